#include <algorithm>
#include <utility>

#include "files/content_type.h"
#include "files/file_problem.h"
#include "support/errors.h"
#include "support/units.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {
namespace {

using support::CallError;
using support::FormatByteCount;

/// Enough to tell what a file contains.
constexpr std::size_t kHeadBytes = 4096;

/// Empty: the whole file.
std::optional<files::LineRange> RangeArgument(const nlohmann::json& arguments) {
  if (!arguments.contains("offset") && !arguments.contains("limit")) return std::nullopt;
  files::LineRange range;
  range.first = arguments.value("offset", std::uint64_t{0});
  if (arguments.contains("limit")) range.count = arguments["limit"].get<std::uint64_t>();
  return range;
}

/// "PNG image, 10 bytes". Throws if it is too large.
std::string DescribeImage(const files::ImageType& type, std::uint64_t size,
                          const std::string& shown) {
  std::string what = std::string(type.name) + " image, " + FormatByteCount(size);
  if (size <= kMaxImageBytes) return what;
  throw CallError(shown + " is a " + what + "; images above " + FormatByteCount(kMaxImageBytes) +
                  " are not shown; scale it down with run_shell_command");
}

FileContent TextContent(std::string bytes, const files::FileReader& file,
                        const std::string& shown) {
  switch (files::Classify(bytes)) {
    case files::ContentKind::kUtf8:
      return {.text = std::move(bytes)};
    case files::ContentKind::kOtherText: {
      support::DecodedText decoded = support::DecodeUtf8(bytes);
      std::string note =
          "Bytes of this text that are not valid UTF-8: " + std::to_string(decoded.replaced) +
          ". Each appears as U+FFFD. The file has another encoding: writing this text back would "
          "lose them, and is refused.";
      return {.text = std::move(decoded.text), .notes = {std::move(note)}};
    }
    case files::ContentKind::kBinary:
      break;
  }
  throw CallError(
      shown + " is not text but " + std::string(files::DescribeBinary(bytes)) +
      (file.was_read_directly() ? "" : " of " + FormatByteCount(file.attributes().size)) +
      "; look into it with run_shell_command (file, xxd, iconv, unzip -l)");
}

void TrimNuls(std::string& bytes, const files::FileReader& file) {
  // The guest fills a file that became shorter on the host with NUL bytes. No text ends with them.
  if (file.was_read_directly()) bytes.erase(bytes.find_last_not_of('\0') + 1);
}

FileContent ReadRange(files::FileReader& file, const files::LineRange& range,
                      const std::string& shown) {
  std::string bytes = file.ReadLines(range);
  TrimNuls(bytes, file);
  return TextContent(std::move(bytes), file, shown);
}

FileContent ReadWhole(files::FileReader& file, const std::string& shown) {
  std::string bytes = file.ReadWhole();
  TrimNuls(bytes, file);
  if (const auto image = files::FindImageType(bytes)) {
    return {.text = DescribeImage(*image, bytes.size(), shown) + ": see the image content block",
            .image = Image{std::move(bytes), image->mime_type.data()}};
  }
  return TextContent(std::move(bytes), file, shown);
}

/// The whole file, or what `limits` allow of it.
FileContent ReadFrom(files::FileReader& file, const paths::ResolvedPath& path,
                     const FetchLimits& limits) {
  const std::uint64_t size = file.attributes().size;
  const bool is_size_known = path.stale_note.empty();
  const bool cannot_fit = !limits.shows_beginning && is_size_known && size > limits.file_bytes;
  if (!limits.shows_beginning && !cannot_fit) return ReadWhole(file, path.host);
  const std::size_t room = cannot_fit ? kHeadBytes : limits.file_bytes;
  auto [bytes, is_whole] = file.ReadBeginning(room);
  if (const auto image = files::FindImageType(bytes)) {
    if (is_size_known) (void)DescribeImage(*image, size, path.host);
    return ReadWhole(file, path.host);
  }
  if (is_whole) TrimNuls(bytes, file);
  std::string rest = CutBeginning(bytes, is_whole, room);
  FileContent content = TextContent(std::move(bytes), file, path.host);
  if (cannot_fit) {
    throw CallError(path.host + " has " + FormatByteCount(size) +
                    ", more than fits into a result; read it in parts with offset (first line, "
                    "from 0) and limit (number of lines)");
  }
  content.rest = std::move(rest);
  return content;
}

/// The end of the line number `lines` in `text`, or of the text.
std::size_t EndOfLines(std::string_view text, std::uint64_t lines) {
  std::size_t end = 0;
  for (std::uint64_t i = 0; i < lines && end < text.size(); ++i) {
    const std::size_t line_end = text.find('\n', end);
    end = line_end == std::string_view::npos ? text.size() : line_end + 1;
  }
  return end;
}

}  // namespace

std::string CutBeginning(std::string& bytes, bool is_whole, std::size_t maximum_bytes) {
  const std::size_t lines_end = EndOfLines(bytes, kMaxTextLines);
  if (is_whole && lines_end == bytes.size()) return "";
  bytes.resize(std::min(lines_end, maximum_bytes));
  const std::size_t last_line_end = bytes.rfind('\n');
  if (last_line_end == std::string::npos) {
    bytes.resize(support::WithoutCutEnd(bytes).size());
    return "\n[Line 0 is longer than " + FormatByteCount(maximum_bytes) +
           "; this is its beginning. offset 0 with limit 1 returns all of it. Go on after it with "
           "offset 1.]";
  }
  bytes.resize(last_line_end + 1);
  const auto lines = std::count(bytes.begin(), bytes.end(), '\n');
  return "[There is more. Go on with offset " + std::to_string(lines) +
         "; with limit, up to the whole rest is returned.]";
}

FileContent ReadFile(Toolbox& toolbox, const mcp::ToolCall& call) {
  const std::optional<files::LineRange> range = RangeArgument(call.arguments);
  const FetchLimits limits = LimitsFor(call.format, toolbox.options);
  FileContent result;
  WithFile(toolbox, call, paths::Access::kRead, "read", [&](const FileCall& target) {
    const paths::ResolvedPath& path = target.path;
    files::FileReader file(path, *target.workspace.guest, target.context);
    result = range ? ReadRange(file, *range, path.host) : ReadFrom(file, path, limits);
    result.notes.push_back(file.StaleNote());
  });
  return result;
}

}  // namespace tools
