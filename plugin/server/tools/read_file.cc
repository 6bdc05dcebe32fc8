// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "files/content_type.h"
#include "files/image.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/units.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {
namespace {

using support::Error;
using support::Format;
using support::FormatByteCount;

/// Enough to tell what a file contains.
constexpr std::size_t kHeadBytes = 4096;

files::LineRange RangeArgument(const nlohmann::json& arguments) {
  files::LineRange range;
  range.first = arguments.value("offset", std::uint64_t{0});
  if (arguments.contains("limit")) range.count = arguments["limit"].get<std::uint64_t>();
  return range;
}

/// "PNG image, 10 bytes". Throws if models take no file of this size.
std::string DescribeImage(const files::Image& image, std::uint64_t size, const std::string& shown) {
  std::string what = Format("{} image, {}", image.name, FormatByteCount(size));
  if (size <= kMaxImageBytes) return what;
  throw Error("{} is a {}; images above {} are not shown; scale it down with run_shell_command",
              shown, what, FormatByteCount(kMaxImageBytes));
}

FileContent TextContent(std::string bytes, std::uint64_t size, const std::string& shown) {
  switch (files::Classify(bytes)) {
    case files::ContentKind::kUtf8:
      return {.text = std::move(bytes)};
    case files::ContentKind::kOtherText: {
      support::DecodedText decoded = support::DecodeUtf8(bytes);
      std::string note = Format(
          "Bytes of this text that are not valid UTF-8: {}. Each appears as U+FFFD. The file has "
          "another encoding: writing this text back would lose them, and is refused.",
          decoded.replaced);
      return {.text = std::move(decoded.text), .notes = {std::move(note)}};
    }
    case files::ContentKind::kBinary:
      break;
  }
  throw Error(
      "{} is not text but {} of {}; look into it with run_shell_command (file, xxd, iconv, unzip "
      "-l)",
      shown, files::DescribeBinary(bytes), FormatByteCount(size));
}

/// A command that prints the bytes from `position` on, as many as its result shows.
std::string PartCommand(const std::string& guest_path, std::uint64_t position,
                        const FetchLimits& limits) {
  constexpr std::size_t kPart = 50'000;
  const nlohmann::json command = {
      "sh", "-c",
      Format("tail -c +{} {} | head -c {}", position + 1, shell::ShellQuote(guest_path),
             std::min(kPart, limits.output_bytes))};
  return Format("run_shell_command with {}",
                command.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Cuts `page` after the last line that fits. Returns the line that says how to go on; empty if
/// nothing was cut.
std::string CutPage(files::FileReader::Lines& page, const files::LineRange& range,
                    std::size_t maximum_bytes, const std::string& guest_path,
                    const FetchLimits& limits) {
  std::string& bytes = page.bytes;
  const std::size_t lines_end = EndOfLines(bytes, range.count.value_or(kMaxTextLines));
  if (page.is_whole && lines_end == bytes.size()) return "";
  bytes.resize(std::min(lines_end, maximum_bytes));
  const std::size_t last_line_end = bytes.rfind('\n');
  if (last_line_end == std::string::npos) {
    bytes.resize(support::WithoutCutEnd(bytes).size());
    return Format(
        "\n[Line {} is longer than {}; this is its beginning. What follows: {}. "
        "A line after it: offset {}.]",
        range.first, FormatByteCount(maximum_bytes),
        PartCommand(guest_path, page.position + bytes.size(), limits), range.first + 1);
  }
  bytes.resize(last_line_end + 1);
  const auto lines = std::count(bytes.begin(), bytes.end(), '\n');
  return Format(
      "[There is more. Go on with offset {}; with limit, up to the whole rest is returned.]",
      range.first + static_cast<std::uint64_t>(lines));
}

/// An image, a page, or with a limit, what that asks for.
FileContent ReadFrom(files::FileReader& file, const paths::ResolvedPath& path,
                     const files::LineRange& range, const FetchLimits& limits) {
  const std::uint64_t size = file.attributes().size;
  const bool is_beginning = range.first == 0 && !range.count;
  const bool cannot_fit = is_beginning && !limits.shows_beginning && size > limits.file_bytes;
  // With a limit: as JSON, text takes up to about twice its bytes.
  const std::size_t most = mcp::kMaxMessageBytes / 2;
  const std::size_t room = cannot_fit ? kHeadBytes : range.count ? most : limits.file_bytes;
  files::FileReader::Lines page;
  if (is_beginning && !limits.shows_beginning && !cannot_fit) {
    page.bytes = file.ReadWhole();
  } else {
    page = file.ReadLines(range, room);
  }
  if (const auto image = files::FindImage(page.bytes); image && is_beginning) {
    (void)DescribeImage(*image, size, path.host);
    if (!page.is_whole) page.bytes = file.ReadWhole();
    const std::string what = DescribeImage(*image, page.bytes.size(), path.host);
    if (const std::string problem = files::ImageProblem(*image, page.bytes); !problem.empty()) {
      throw Error("{} is a {}, but is not shown: {}; repair it or scale it down in the guest",
                  path.host, what, problem);
    }
    return {.text = Format("{}: see the image content block", what),
            .image = Image{std::move(page.bytes), image->mime_type.data()}};
  }
  const bool is_page = limits.shows_beginning || !page.is_whole;
  std::string rest = is_page ? CutPage(page, range, room, path.guest, limits) : "";
  FileContent content = TextContent(std::move(page.bytes), size, path.host);
  if (limits.shows_beginning) {
    content.rest = std::move(rest);
    return content;
  }
  if (!range.count && !page.is_whole) {
    throw Error(
        "{} has {}, more than fits into a result; "
        "read it in parts with offset (first line, from 0) and limit (number of lines)",
        path.host, FormatByteCount(size));
  }
  if (!page.is_whole) {
    throw Error(
        "{}: these lines have more than fits into a result; "
        "ask for fewer with limit. Parts of a long line: {}",
        path.host, PartCommand(path.guest, page.position, limits));
  }
  return content;
}

}  // namespace

std::size_t EndOfLines(std::string_view text, std::uint64_t lines) {
  std::size_t end = 0;
  for (std::uint64_t i = 0; i < lines && end < text.size(); ++i) {
    const std::size_t line_end = text.find('\n', end);
    end = line_end == std::string_view::npos ? text.size() : line_end + 1;
  }
  return end;
}

FileContent ReadFile(Task& task) {
  const paths::ResolvedPath& path = task.ResolveFile(paths::Access::kRead, "read").path;
  files::FileReader file(path, task.guest(), task.context);
  return ReadFrom(file, path, RangeArgument(task.call.arguments), LimitsFor(task.call.format));
}

}  // namespace tools
