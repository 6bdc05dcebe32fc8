#include "find/file_scan.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "files/file_content.h"
#include "find/find_listing.h"
#include "guest/no_file_server.h"
#include "support/errors.h"
#include "support/paths.h"
#include "support/utf8.h"

namespace find {
namespace {

/// Bytes that RE2 may use for the pattern.
constexpr std::int64_t kMaximumRegexMemory = 16LL << 20;

/// Where git looks for a NUL (git's xdiff-interface.c, FIRST_FEW_BYTES).
constexpr std::size_t kBinaryCheckBytes = 8000;

bool IsBinary(std::string_view content) {
  return content.substr(0, kBinaryCheckBytes).find('\0') != std::string_view::npos;
}

std::vector<std::string> FindFiles(guest::Guest& guest, const ScanRequest& request,
                                   ScanResult& result, const support::Context& context) {
  if (!request.file.empty()) return {request.file};
  ListingRequest listing;
  listing.directory = request.directory;
  listing.regular_files_only = true;
  std::vector<std::string> files;
  const auto visit = [&](std::size_t, const ListedName& name) {
    if (request.include != nullptr && !request.include->Matches(support::ToUtf8(name.path))) return;
    if (name.size > kMaximumScannedFile) {
      ++result.too_large;
    } else {
      files.emplace_back(name.path);
    }
  };
  result.gaps = ListTrees(guest, {listing}, visit, context);
  std::sort(files.begin(), files.end());
  return files;
}

/// Returns the number of lines that were left out because matching them would take too long.
std::size_t ScanContent(std::string_view content, std::string_view name, const RE2& regex,
                        GrepOutput& output, const support::Context& context) {
  const auto instructions = static_cast<std::size_t>(std::max(1, regex.ProgramSize()));
  std::size_t too_long = 0;
  for (std::size_t number = 1; !content.empty(); ++number) {
    context.ThrowIfStopped();  // a large pattern takes long, if only in proportion to the text
    const std::string_view line = content.substr(0, content.find('\n'));
    content.remove_prefix(std::min(content.size(), line.size() + 1));
    if (line.size() > kMaximumMatchSteps / instructions) {
      ++too_long;
      continue;
    }
    if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), regex)) continue;
    output.Add(name, std::to_string(number), line);
  }
  return too_long;
}

class Scanner {
 public:
  Scanner(guest::Guest& guest, const RE2& regex, GrepOutput& output, ScanResult& result,
          const support::Context& context)
      : guest_(guest), regex_(regex), output_(output), result_(result), context_(context) {}

  void Scan(const std::string& path, const std::string& name) {
    context_.ThrowIfStopped();
    const std::optional<std::string> content = Read(path);
    if (!content) return;
    if (content->size() > kMaximumScannedFile) {
      ++result_.too_large;
    } else if (!IsBinary(*content)) {
      result_.too_long += ScanContent(*content, name, regex_, output_, context_);
    }
  }

 private:
  /// Nothing where it is counted as unreadable, or as too large.
  std::optional<std::string> Read(const std::string& path) {
    try {
      const guest::RealFile found = guest_.FindRealFile(path, context_);
      if (guest::IsItself(found, path, guest::FileType::kRegular)) {
        paths::ResolvedPath place;
        place.host = place.guest = path;
        place.attributes = found.attributes;
        files::OpenedFile opened =
            files::OpenRegularFile(place, guest::OpenMode::kRead, guest_, context_);
        if (opened.attributes.size <= kMaximumScannedFile)
          return files::ReadWhole(opened, path, context_);
        ++result_.too_large;
        return std::nullopt;
      }
      // Since the listing it has gone, or a link has come there or above.
    } catch (const support::ConnectionLost&) {
      throw;
    } catch (const support::Stopped&) {
      throw;
    } catch (const guest::NoFileServer&) {
      throw;
    } catch (const support::CallError&) {
      // It cannot be opened or read, or another one was there by then.
    }
    ++result_.unreadable;
    return std::nullopt;
  }

  guest::Guest& guest_;
  const RE2& regex_;
  GrepOutput& output_;
  ScanResult& result_;
  const support::Context& context_;
};

}  // namespace

ScanResult ScanFiles(guest::Guest& guest, const ScanRequest& request, GrepOutput& output,
                     const support::Context& context) {
  RE2::Options options;
  options.set_max_mem(kMaximumRegexMemory);
  options.set_log_errors(false);
  const RE2 regex(request.pattern, options);
  if (!regex.ok()) {
    throw support::CallError(
        "Bad regular expression (the guest has no git; RE2's syntax applies): " + regex.error());
  }
  ScanResult result;
  Scanner scanner(guest, regex, output, result, context);
  for (const std::string& name : FindFiles(guest, request, result, context)) {
    scanner.Scan(support::JoinPath(request.directory, name), name);
  }
  return result;
}

}  // namespace find
