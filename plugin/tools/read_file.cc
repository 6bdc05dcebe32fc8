#include <optional>
#include <string>
#include <utility>

#include "files/content_type.h"
#include "files/file_content.h"
#include "files/file_problem.h"
#include "support/errors.h"
#include "support/units.h"
#include "support/utf8.h"
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

mcp::ToolResult Read(FileCall& call, const std::optional<files::LineRange>& range) {
  const paths::ResolvedPath& path = call.path;
  files::FileReader file(path, *call.workspace.guest, call.context);
  std::string bytes = range ? file.ReadLines(*range) : file.ReadWhole();
  // The guest fills a file that became shorter on the host with NUL bytes. No text ends with them.
  if (file.was_read_directly()) bytes.erase(bytes.find_last_not_of('\0') + 1);
  mcp::ToolResult result;
  if (const auto image = range ? std::nullopt : files::FindImageType(bytes)) {
    result = ImageResult(*image, bytes, path.host);
  } else {
    std::optional<std::uint64_t> size;
    if (!range) size = bytes.size();
    if (range && !file.was_read_directly()) size = file.attributes().size;
    result = TextResult(std::move(bytes), size, path.host);
  }
  AddNote(result, file.StaleNote());
  return result;
}

}  // namespace

mcp::ToolResult ReadFile(Toolbox& toolbox, const mcp::ToolCall& call) {
  const std::optional<files::LineRange> range = RangeArgument(call.arguments);
  return WithFile(toolbox.workspaces, call, paths::Access::kRead, "read",
                  [&](FileCall& file) { return Read(file, range); });
}

}  // namespace tools
