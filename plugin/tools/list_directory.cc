#include "tools/list_directory.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "files/file_content.h"
#include "files/file_problem.h"
#include "mcp/json_writer.h"
#include "support/errors.h"
#include "tools/contract.h"

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

/// Writes JSON text directly: this is most of what a listing costs on the host.
void AppendEntry(std::string& out, const guest::DirectoryEntry& entry) {
  out += R"({"name":)";
  mcp::AppendJsonString(out, entry.name);
  out += R"(,"size":)";
  out += std::to_string(entry.attributes.size);
  out += R"(,"mode":)";
  out += std::to_string(GoFileMode(entry.attributes));
  if (const std::string time = FormatTime(entry.attributes.modified); !time.empty()) {
    out += R"(,"time":")";
    out += time;
    out += '"';
  }
  const bool is_directory = entry.attributes.type == FileType::kDirectory;
  out += is_directory ? R"(,"is_dir":true})" : R"(,"is_dir":false})";
}

std::vector<guest::DirectoryEntry> List(const paths::ResolvedPath& path, guest::Guest& guest,
                                        const support::Context& context) {
  if (!path.attributes) throw support::CallError(path.host + " does not exist");
  if (path.attributes->type != FileType::kDirectory) {
    throw support::CallError(path.host + " is a " +
                             std::string(files::Name(path.attributes->type)) + ", not a directory");
  }
  try {
    return files::NamesIn(path, guest, context);
  } catch (const guest::FileError& error) {
    files::ThrowFileProblem(error, "list", path, 0, guest, context);
  }
}

}  // namespace

std::int64_t GoFileMode(const guest::FileAttributes& attributes) {
  std::uint32_t mode = GoType(attributes.type) | (attributes.permissions & 0777U);
  if ((attributes.permissions & 04000U) != 0) mode |= Bit(23);  // set user id
  if ((attributes.permissions & 02000U) != 0) mode |= Bit(22);  // set group id
  if ((attributes.permissions & 01000U) != 0) mode |= Bit(20);  // sticky
  return mode;
}

std::string EntriesText(std::vector<guest::DirectoryEntry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string text = R"({"entries":[)";
  for (const guest::DirectoryEntry& entry : entries) {
    if (&entry != &entries.front()) text += ',';
    AppendEntry(text, entry);
  }
  text += "]}";
  return text;
}

std::string FormatTime(std::int64_t seconds_since_1970) {
  using namespace std::chrono;
  constexpr std::int64_t kFirst = -62'167'219'200;  // 0000-01-01T00:00:00Z
  constexpr std::int64_t kLast = 253'402'300'799;   // 9999-12-31T23:59:59Z
  if (seconds_since_1970 < kFirst || seconds_since_1970 > kLast) return "";
  const sys_seconds time{seconds{seconds_since_1970}};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::string text = "0000-00-00T00:00:00Z";
  const auto put = [&text](std::size_t last_digit, std::int64_t number) {
    for (; number > 0; number /= 10) text[last_digit--] = static_cast<char>('0' + number % 10);
  };
  put(3, static_cast<int>(date.year()));
  put(6, static_cast<unsigned>(date.month()));
  put(9, static_cast<unsigned>(date.day()));
  put(12, clock.hours().count());
  put(15, clock.minutes().count());
  put(18, clock.seconds().count());
  return text;
}

const mcp::ToolDefinition& ListDirectoryTool::definition() const {
  return Definition("list_directory");
}

mcp::ToolResult ListDirectoryTool::Call(const mcp::ToolCall& call) {
  const support::Context context = call.context.WithTimeout(kFileToolTimeLimit);
  return WithWorkspace(
      workspaces_, context, call.progress, [&](const Workspace& workspace) -> mcp::ToolResult {
        const paths::ResolvedPath path =
            workspace.paths->Resolve(call.arguments.at("path").get<std::string>(),
                                     paths::Access::kList, *workspace.guest, context);
        mcp::ToolResult result;
        result.structured_text = EntriesText(List(path, *workspace.guest, context));
        AddNote(result, path.stale_note);
        return result;
      });
}

}  // namespace tools
