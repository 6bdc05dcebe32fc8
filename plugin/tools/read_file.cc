#include <optional>
#include <string>
#include <utility>

#include "files/content_type.h"
#include "files/file_content.h"
#include "files/file_problem.h"
#include "support/errors.h"
#include "support/units.h"
#include "support/utf8.h"
#include "tools/text_results.h"
#include "tools/tools.h"

namespace tools {
namespace {

using support::CallError;

/// Empty: the whole file.
std::optional<files::LineRange> RangeArgument(const nlohmann::json& arguments) {
  if (!arguments.contains("offset") && !arguments.contains("limit")) return std::nullopt;
  files::LineRange range;
  range.first = arguments.value("offset", std::uint64_t{0});
  if (arguments.contains("limit")) range.count = arguments["limit"].get<std::uint64_t>();
  return range;
}

mcp::ToolResult ImageResult(const files::ImageType& type, const std::string& bytes,
                            const std::string& shown) {
  const std::string what =
      std::string(type.name) + " image, " + support::FormatByteCount(bytes.size());
  if (bytes.size() > kMaximumImageBytes) {
    throw CallError(shown + " is a " + what + "; images above " +
                    support::FormatByteCount(kMaximumImageBytes) +
                    " are not shown; scale it down with run_shell_command");
  }
  mcp::ToolResult result;
  result.structured = {{"content", what + ": see the image content block"}};
  result.more_content.push_back(
      {{"type", "image"}, {"data", support::EncodeBase64(bytes)}, {"mimeType", type.mime_type}});
  return result;
}

/// `file_size` is empty if it is unknown.
mcp::ToolResult TextResult(std::string bytes, std::optional<std::uint64_t> file_size,
                           const std::string& shown) {
  mcp::ToolResult result;
  switch (files::Classify(bytes)) {
    case files::ContentKind::kUtf8:
      result.structured["content"] = std::move(bytes);
      return result;
    case files::ContentKind::kOtherText: {
      support::DecodedText decoded = support::DecodeUtf8(bytes);
      result.structured["content"] = std::move(decoded.text);
      result.more_content.push_back(
          {{"type", "text"},
           {"text",
            "Bytes of this text that are not valid UTF-8: " + std::to_string(decoded.replaced) +
                ". Each appears as U+FFFD. The file has another encoding: writing this text back "
                "would lose them, and is refused."}});
      return result;
    }
    case files::ContentKind::kBinary:
      break;
  }
  throw CallError(shown + " is not text but " + std::string(files::DescribeBinary(bytes)) +
                  (file_size ? " of " + support::FormatByteCount(*file_size) : "") +
                  "; look into it with run_shell_command (file, xxd, iconv, unzip -l)");
}

void TrimNuls(std::string& bytes, const files::FileReader& file) {
  // The guest fills a file that became shorter on the host with NUL bytes. No text ends with them.
  if (file.was_read_directly()) bytes.erase(bytes.find_last_not_of('\0') + 1);
}

/// What an agent sees of a file if it wants no range. Empty for an image.
std::optional<mcp::ToolResult> ReadBeginning(files::FileReader& file, const std::string& shown,
                                             std::size_t room) {
  auto [bytes, is_whole] = file.ReadBeginning(room);
  if (files::FindImageType(bytes)) return std::nullopt;
  if (is_whole) TrimNuls(bytes, file);
  const std::string last_line = CutBeginning(bytes, is_whole, room);
  std::optional<std::uint64_t> size;
  if (!file.was_read_directly()) size = file.attributes().size;
  mcp::ToolResult result = TextResult(std::move(bytes), size, shown);
  result.structured["content"].get_ref<std::string&>() += last_line;
  return result;
}

mcp::ToolResult ReadAll(files::FileReader& file, const std::optional<files::LineRange>& range,
                        const std::string& shown) {
  std::string bytes = range ? file.ReadLines(*range) : file.ReadWhole();
  TrimNuls(bytes, file);
  if (const auto image = range ? std::nullopt : files::FindImageType(bytes)) {
    return ImageResult(*image, bytes, shown);
  }
  std::optional<std::uint64_t> size;
  if (!range) size = bytes.size();
  if (range && !file.was_read_directly()) size = file.attributes().size;
  return TextResult(std::move(bytes), size, shown);
}

mcp::ToolResult Read(const FileCall& target, const mcp::ToolCall& call) {
  const std::optional<files::LineRange> range = RangeArgument(call.arguments);
  files::FileReader file(target.path, *target.workspace.guest, target.context);
  std::optional<mcp::ToolResult> result;
  if (WantsText(call) && !range) result = ReadBeginning(file, target.path.host, TextRoom(call));
  if (!result) result = ReadAll(file, range, target.path.host);
  if (WantsText(call)) {
    result->text = std::move(result->structured["content"].get_ref<std::string&>());
    result->structured = nullptr;
  }
  AddNote(*result, file.StaleNote());
  return *std::move(result);
}

}  // namespace

mcp::ToolResult ReadFile(Toolbox& toolbox, const mcp::ToolCall& call) {
  return WithFile(toolbox.workspaces, call, paths::Access::kRead, "read",
                  [&](const FileCall& file) { return Read(file, call); });
}

}  // namespace tools
