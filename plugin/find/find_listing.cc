#include "find/find_listing.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_set>
#include <utility>

#include "find/find_script.h"
#include "support/errors.h"
#include "support/paths.h"

namespace find {
namespace {

/// How often a find that is ended by a signal is started in all.
constexpr int kMostTries = 3;

constexpr const char* kTooManyNames = "There are too many names to look at";
constexpr const char* kTooManyIgnored = "git ignores too many names there";

[[noreturn]] void ThrowTooLarge(const char* problem, std::size_t limit) {
  throw support::CallError(std::string(problem) + " (their list is longer than " +
                           std::to_string(limit >> 20U) +
                           " MiB). Give a path or a pattern that begins deeper in the tree.");
}

class ListingSink : public shell::OutputSink {
 public:
  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    const bool is_names = stream == shell::Stream::kOutput;
    std::string& text = is_names ? names : ignored;
    if (text.size() + bytes.size() > (is_names ? kMaximumListing : kMaximumIgnoredListing)) {
      (is_names ? too_many_names : too_many_ignored) = true;
      return false;
    }
    text += bytes;
    return true;
  }

  std::string names;
  std::string ignored;
  bool too_many_names = false;    ///< whether these have ended the output
  bool too_many_ignored = false;  ///< likewise
};

/// What is kept costs more than its bytes, which may be few.
void CountKept(std::size_t& kept, std::size_t name_bytes, const char* problem) {
  kept += name_bytes + sizeof(std::string);
  if (kept > kMaximumListing) ThrowTooLarge(problem, kMaximumListing);
}

std::string_view TakeUntil(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return taken;
}

template <typename Number>
Number ToNumber(std::string_view text, int base = 10) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

guest::FileType TypeOf(std::string_view text) {
  if (text.empty()) return guest::FileType::kUnknown;
  switch (text[0]) {
    case 'x':
      return guest::FileTypeOf(ToNumber<std::uint32_t>(text.substr(1), 16));
    case 'f':
      return guest::FileType::kRegular;
    case 'd':
      return guest::FileType::kDirectory;
    case 'l':
      return guest::FileType::kSymlink;
    case 'p':
      return guest::FileType::kFifo;
    case 's':
      return guest::FileType::kSocket;
    case 'c':
      return guest::FileType::kCharacterDevice;
    case 'b':
      return guest::FileType::kBlockDevice;
    default:
      return guest::FileType::kUnknown;
  }
}

std::uint32_t NanosecondsOf(std::string_view fraction) {
  std::string digits(fraction.substr(0, 9));
  digits.resize(9, '0');
  return ToNumber<std::uint32_t>(digits);
}

/// find begins each path with the directory's own ".".
std::string_view WithoutDot(std::string_view path) {
  return path.substr(std::min(path.size(), std::string_view("./").size()));
}

ListedName ParseName(std::string_view record) {
  ListedName name;
  std::string_view time = TakeUntil(record, " ");
  name.modified = ToNumber<std::int64_t>(TakeUntil(time, "."));
  name.modified_nanoseconds = NanosecondsOf(time);
  name.type = TypeOf(TakeUntil(record, " "));
  name.size = ToNumber<std::uint64_t>(TakeUntil(record, " "));
  name.path = WithoutDot(record);
  return name;
}

/// Whether a directory can hold it: what a guest makes up must not look like a name elsewhere.
bool IsPossible(std::string_view path) {
  if (path.size() > kMaximumListedPath || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    if (component.empty() || component == "." || component == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

void RequirePossible(std::string_view path) {
  if (!IsPossible(path)) throw support::CallError("The guest listed a name that cannot exist.");
}

/// Relative to the directory of the request; one that ends with '/' means all that is below it.
using IgnoredNames = std::unordered_set<std::string>;

std::vector<IgnoredNames> ParseIgnored(std::string_view text, std::size_t request_count) {
  constexpr std::string_view kEnd("\0", 1);
  std::vector<IgnoredNames> ignored(request_count);
  std::size_t request = request_count;
  std::size_t kept = 0;
  std::string prefix;
  while (!text.empty()) {
    std::string_view record = TakeUntil(text, kEnd);
    if (record.starts_with('/')) {
      request = ToNumber<std::size_t>(TakeUntil(record, " ").substr(1));
      prefix = record.size() < 2 ? "" : std::string(record.substr(2)) + "/";  // "." or "./a"
    } else if (request < request_count) {
      CountKept(kept, prefix.size() + record.size(), kTooManyIgnored);
      ignored[request].insert(prefix + std::string(record));
    }
  }
  return ignored;
}

/// ListedName::ignored_names
std::size_t IgnoredPart(const ListedName& name, const IgnoredNames& ignored) {
  if (ignored.empty()) return 0;
  std::size_t names = 1;
  for (std::size_t at = name.path.find('/'); at != std::string_view::npos;
       at = name.path.find('/', at + 1), ++names) {
    if (ignored.contains(std::string(name.path.substr(0, at + 1)))) return names;
  }
  std::string path(name.path);
  if (ignored.contains(path)) return names;
  const bool is_directory = name.type == guest::FileType::kDirectory;
  return is_directory && ignored.contains(path += '/') ? names : 0;
}

void AddGap(ListingGaps& gaps, std::string path) {
  ++gaps.count;
  if (gaps.examples.size() < ListingGaps::kMaximumExamples) {
    gaps.examples.push_back(std::move(path));
  }
}

/// find's complaints, one a line: "find: './a': Permission denied", the quotes GNU's only.
void ParseComplaints(std::string_view text, const std::string& directory, ListingGaps& gaps) {
  constexpr std::string_view kBegin = "find: ";
  constexpr std::string_view kEnd = ": Permission denied";
  while (!text.empty()) {
    std::string_view path = TakeUntil(text, "\n");
    if (!path.starts_with(kBegin) || !path.ends_with(kEnd)) continue;
    path.remove_prefix(kBegin.size());
    path.remove_suffix(std::min(path.size(), kEnd.size()));  // both may share the one ": "
    if (path.size() > 2 && path.front() == '\'' && path.back() == '\'') {
      path = path.substr(1, path.size() - 2);
    }
    const std::string_view below = WithoutDot(path);
    if (!below.empty() && !IsPossible(below)) continue;
    AddGap(gaps, support::JoinPath(directory, below));
  }
}

ListingGaps VisitNames(std::string_view text, const std::vector<ListingRequest>& requests,
                       const std::vector<IgnoredNames>& ignored, const NameVisitor& visit,
                       const support::Context& context) {
  ListingGaps gaps;
  std::size_t next = 0;
  while (!text.empty()) {
    context.ThrowIfStopped();  // names can be made up that take long
    const std::string_view record = TakeUntil(text, kListingRecordEnd);
    if (record == kListingWalkBegins) {
      ++next;
      continue;
    }
    // A walk that nobody asked for has no directory.
    if (next == 0 || next > requests.size()) continue;
    if (record.starts_with(kListingFailed)) {
      ParseComplaints(record.substr(kListingFailed.size()), requests[next - 1].directory, gaps);
      continue;
    }
    ListedName name = ParseName(record);
    const bool is_directory_itself = name.path.empty();
    if (is_directory_itself) continue;
    RequirePossible(name.path);
    name.ignored_names = IgnoredPart(name, ignored[next - 1]);
    visit(next - 1, name);
  }
  return gaps;
}

/// Visits names as find does, by way of SFTP.
class SftpWalk {
 public:
  SftpWalk(guest::Guest& guest, const NameVisitor& visit, ListingGaps& gaps,
           const support::Context& context)
      : guest_(guest), visit_(visit), gaps_(gaps), context_(context) {}

  void Walk(const ListingRequest& request, std::size_t number) {
    const std::size_t maximum_depth =
        request.maximum_depth.value_or(std::numeric_limits<std::size_t>::max());
    std::vector<std::pair<std::string, std::size_t>> directories = {{"", 1}};
    while (!directories.empty()) {
      const auto [prefix, depth] = std::move(directories.back());
      directories.pop_back();
      for (const guest::DirectoryEntry& entry : ListDirectory(request.directory + "/" + prefix)) {
        if (!request.enters_git && entry.name == ".git") continue;
        const std::string path = prefix + entry.name;
        RequirePossible(path);
        const guest::FileType type = entry.attributes.type;
        if (type == guest::FileType::kDirectory && depth < maximum_depth) {
          directories.emplace_back(path + "/", depth + 1);
        }
        CountKept(bytes_, path.size(), kTooManyNames);
        if (request.regular_files_only && type != guest::FileType::kRegular) continue;
        visit_(number, {path, type, entry.attributes.size, entry.attributes.modified, 0, 0});
      }
    }
  }

 private:
  std::vector<guest::DirectoryEntry> ListDirectory(const std::string& path) {
    try {
      return guest_.List(path, context_);
    } catch (const guest::FileError& error) {
      if (error.code() == guest::FileErrorCode::kPermissionDenied) {
        AddGap(gaps_, path.substr(0, path.find_last_not_of('/') + 1));
      }
      return {};  // As with find: what cannot be read, or has vanished, has no names.
    }
  }

  guest::Guest& guest_;
  const NameVisitor& visit_;
  ListingGaps& gaps_;
  const support::Context& context_;
  std::size_t bytes_ = 0;
};

}  // namespace

ListingGaps ListTrees(guest::Guest& guest, const std::vector<ListingRequest>& requests,
                      const NameVisitor& visit, const support::Context& context) {
  const std::string script = FindScript(requests);
  ListingSink sink;
  std::optional<int> status;
  // GNU's find (seen with 4.9) may die of a directory that is renamed just when it enters it.
  for (int tries = 0; tries < kMostTries; ++tries) {
    sink = ListingSink();
    status = guest.RunScript(script, sink, context).exit_status;
    if (sink.too_many_ignored) ThrowTooLarge(kTooManyIgnored, kMaximumIgnoredListing);
    if (sink.too_many_names) ThrowTooLarge(kTooManyNames, kMaximumListing);
    if (!status) {
      throw support::CallError(
          "The guest did not say how its list of names has ended, so that it may be short. Try "
          "again.");
    }
    if (*status < kFirstSignalStatus) break;
  }
  if (*status == kNoFindStatus) {
    ListingGaps gaps;
    SftpWalk walk(guest, visit, gaps, context);
    for (std::size_t i = 0; i < requests.size(); ++i) walk.Walk(requests[i], i);
    return gaps;
  }
  if (*status >= kFirstSignalStatus) {
    throw support::CallError(
        "The guest's find was ended by a signal (exit status " + std::to_string(*status) +
        ") each time it was asked, so that the list would be short. Try again, or give a path or a "
        "pattern that begins deeper in the tree.");
  }
  if (*status != 0) {
    throw support::CallError("Listing the directory in the guest failed with exit status " +
                             std::to_string(*status) + ".");
  }
  return VisitNames(sink.names, requests, ParseIgnored(sink.ignored, requests.size()), visit,
                    context);
}

}  // namespace find
