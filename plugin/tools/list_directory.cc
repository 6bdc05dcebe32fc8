#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <string>
#include <vector>

#include "files/file_content.h"
#include "files/file_problem.h"
#include "mcp/json_writer.h"
#include "support/errors.h"
#include "tools/text_results.h"
#include "tools/tools.h"

namespace tools {
namespace {

using guest::FileType;

constexpr std::uint32_t Bit(unsigned number) {
  return 1U << number;
}

std::uint32_t GoType(FileType type) {
  switch (type) {
    case FileType::kRegular:
      return 0;
    case FileType::kDirectory:
      return Bit(31);
    case FileType::kSymlink:
      return Bit(27);
    case FileType::kFifo:
      return Bit(25);
    case FileType::kSocket:
      return Bit(24);
    case FileType::kCharacterDevice:
      return Bit(26) | Bit(21);
    case FileType::kBlockDevice:
      return Bit(26);
    case FileType::kUnknown:
      return Bit(19);
  }
  return Bit(19);
}

/// Go's io/fs.FileMode number: type and special bits from 1<<19 upwards, rwxrwxrwx below (package
/// io/fs, constants ModeDir … ModeIrregular).
std::uint32_t GoFileMode(const guest::FileAttributes& attributes) {
  std::uint32_t mode = GoType(attributes.type) | (attributes.permissions & 0777U);
  if ((attributes.permissions & 04000U) != 0) mode |= Bit(23);  // set user id
  if ((attributes.permissions & 02000U) != 0) mode |= Bit(22);  // set group id
  if ((attributes.permissions & 01000U) != 0) mode |= Bit(20);  // sticky
  return mode;
}

/// "2026-11-21T05:04:00Z" (RFC 3339)
std::string FormatTime(std::time_t seconds_since_1970) {
  std::tm parts{};
  ::gmtime_r(&seconds_since_1970, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// Writes JSON text directly: this is most of what a listing costs on the host.
void AppendEntry(std::string& out, const guest::DirectoryEntry& entry) {
  out += R"({"name":)";
  mcp::AppendJsonString(out, entry.name);
  out += R"(,"size":)";
  out += std::to_string(entry.attributes.size);
  out += R"(,"mode":)";
  out += std::to_string(GoFileMode(entry.attributes));
  out += R"(,"time":")";
  out += FormatTime(entry.attributes.modified);
  const bool is_directory = entry.attributes.type == FileType::kDirectory;
  out += is_directory ? R"(","is_dir":true})" : R"(","is_dir":false})";
}

}  // namespace

std::string EntriesText(const std::vector<guest::DirectoryEntry>& entries) {
  std::string text = R"({"entries":[)";
  for (const guest::DirectoryEntry& entry : entries) {
    if (&entry != &entries.front()) text += ',';
    AppendEntry(text, entry);
  }
  text += "]}";
  return text;
}

mcp::ToolResult ListDirectory(Toolbox& toolbox, const mcp::ToolCall& call) {
  return WithFile(toolbox.workspaces, call, paths::Access::kList, "list", [&](FileCall& file) {
    const paths::ResolvedPath& path = file.path;
    if (!path.attributes) throw support::CallError(path.host + " does not exist");
    if (path.attributes->type != FileType::kDirectory) {
      throw support::CallError(path.host + " is a " +
                               std::string(files::Name(path.attributes->type)) +
                               ", not a directory");
    }
    mcp::ToolResult result;
    std::vector<guest::DirectoryEntry> entries =
        files::NamesIn(path, *file.workspace.guest, file.context);
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    if (WantsText(call)) {
      std::vector<std::string> lines;
      lines.reserve(entries.size());
      std::transform(entries.begin(), entries.end(), std::back_inserter(lines), EntryLine);
      result.text = LinesText(lines, TextRoom(call), "entries", "glob finds the others by name.");
    } else {
      result.structured_text = EntriesText(entries);
    }
    AddNote(result, path.stale_note);
    return result;
  });
}

}  // namespace tools
