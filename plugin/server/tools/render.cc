// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "mcp/json_writer.h"
#include "shell/command_output.h"
#include "support/encoding.h"
#include "support/format.h"
#include "support/printable.h"
#include "support/regex.h"
#include "support/units.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {
namespace {

using guest::FileAttributes;
using mcp::Json;
using mcp::ResultFormat;
using support::Format;
using enum mcp::ResultStyle;

/// In bytes: for the line in brackets.
constexpr std::size_t kLastLineRoom = 512;
constexpr std::size_t kMaxShownMatch = 100;

/// Structured content is sent twice, once escaped in a text. A byte of a string takes up to
/// `\u001f` and `\\u001f`.
constexpr std::size_t kCopies = 2;
constexpr std::size_t kMaxCopiesPerByte = 6 + 7;

/// For the members beside the output, such as an error.
constexpr std::size_t kOtherBytes = std::size_t{1} << 20;
static_assert(2 * shell::kOutputLimit * kMaxCopiesPerByte + kOtherBytes <= mcp::kMaxMessageBytes);

/// `content` is text, or the JSON of the structured content.
mcp::ToolResult Make(mcp::ResultStyle style, std::string content, const Notes& notes,
                     const End& end = {}) {
  // A client lost its session to a NUL.
  static const support::Regex nul(R"(\x00)", support::Regex::kLatin1);
  if (style == kText) nul.ReplaceAll(content, R"(\\0)");
  mcp::ToolResult result = {.style = style,
                            .content = std::move(content),
                            .exit_code = end.exit_code,
                            .error = end.error};
  for (const std::string& note : notes) {
    if (!note.empty()) result.more_content.push_back({{"type", "text"}, {"text", note}});
  }
  return result;
}

bool IsText(const ResultFormat& format) {
  return format.style == kText;
}

void EndLine(std::string& text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
}

/// One item on a line, as far as they fit; then how many there are and `advice`.
template <typename Items, typename Line>
std::string LinesText(const Items& items, const Line& line_of, const ResultFormat& format,
                      const std::string& what, const char* advice) {
  if (items.empty()) return Format("[no {}]", what);
  std::string text;
  std::size_t shown = 0;
  for (const auto& item : items) {
    const std::string line = line_of(item);
    if (text.size() + line.size() >= TextRoom(format)) {
      return Format("{}[{} of {} {}. {}]", text, shown, items.size(), what, advice);
    }
    text += line + '\n';
    ++shown;
  }
  return text;
}

/// `{"key":[…]}`, made item by item: the JSON value of a long list takes several times its text.
template <typename Items, typename Encoding>
std::string ListJson(const char* key, const Items& items, const Encoding& json_of) {
  std::string text = std::string("{\"") + key + "\":[";
  for (const auto& item : items) {
    if (text.back() != '[') text += ',';
    text += mcp::ToJson(json_of(item));
  }
  text += "]}";
  return text;
}

constexpr std::uint32_t Bit(unsigned number) {
  return 1U << number;
}

struct TypeCode {
  char letter;            ///< of `ls -l`
  std::uint32_t go_mode;  ///< Go's package io/fs, constants ModeDir … ModeIrregular
};

/// In the order of guest::FileType.
constexpr std::array<TypeCode, 8> kTypeCodes = {{{'-', 0},
                                                 {'d', Bit(31)},
                                                 {'l', Bit(27)},
                                                 {'p', Bit(25)},
                                                 {'s', Bit(24)},
                                                 {'c', Bit(26) | Bit(21)},
                                                 {'b', Bit(26)},
                                                 {'?', Bit(19)}}};

TypeCode CodeOf(guest::FileType type) {
  return kTypeCodes.at(static_cast<std::size_t>(type));
}

/// Go's io/fs.FileMode number.
std::uint32_t GoFileMode(const FileAttributes& attributes) {
  const std::uint32_t bits = attributes.permissions;
  std::uint32_t mode = CodeOf(attributes.type).go_mode | (bits & 0777U);
  if ((bits & 04000U) != 0) mode |= Bit(23);  // set user id
  if ((bits & 02000U) != 0) mode |= Bit(22);  // set group id
  if ((bits & 01000U) != 0) mode |= Bit(20);  // sticky
  return mode;
}

/// "-rwxr-xr-x"
std::string ModeText(const FileAttributes& attributes) {
  const std::uint32_t bits = attributes.permissions;
  std::string mode = "-rwxrwxrwx";
  mode[0] = CodeOf(attributes.type).letter;
  for (unsigned i = 1; i < mode.size(); ++i) {
    if ((bits & Bit(9 - i)) == 0) mode[i] = '-';
  }
  // Like ls: s and t where x is set too.
  if ((bits & 04000U) != 0) mode[3] = mode[3] == 'x' ? 's' : 'S';
  if ((bits & 02000U) != 0) mode[6] = mode[6] == 'x' ? 's' : 'S';
  if ((bits & 01000U) != 0) mode[9] = mode[9] == 'x' ? 't' : 'T';
  return mode;
}

/// Like a line of `ls -la`, the time in UTC.
std::string EntryLine(const guest::DirectoryEntry& entry) {
  const FileAttributes& attributes = entry.attributes;
  constexpr std::size_t kSizeWidth = 9;
  std::string size = std::to_string(attributes.size);
  if (size.size() < kSizeWidth) size.insert(0, kSizeWidth - size.size(), ' ');
  return Format("{} {} {} {}{}", ModeText(attributes), size,
                support::FormatTime(attributes.modified, "%Y-%m-%d %H:%M"),
                support::Printable(entry.name),
                attributes.type == guest::FileType::kDirectory ? "/" : "");
}

Json EntryJson(const guest::DirectoryEntry& entry) {
  const FileAttributes& attributes = entry.attributes;
  return {{"name", entry.name},
          {"size", attributes.size},
          {"mode", GoFileMode(attributes)},
          {"time", support::FormatTime(attributes.modified, "%Y-%m-%dT%H:%M:%SZ")},  // RFC 3339
          {"is_dir", attributes.type == guest::FileType::kDirectory}};
}

void AddEnd(Json& object, const End& end) {
  if (!end.error.empty()) object["error"] = end.error;
  if (end.exit_code) object["exit_code"] = *end.exit_code;
}

Json StateJson(const ProcessState& state) {
  Json object = {{"id", state.id}};
  if (state.running) object["running"] = *state.running;
  AddEnd(object, state.end);
  return object;
}

/// "p1 running"
std::string StateText(const ProcessState& state) {
  const auto& [exit_code, error] = state.end;
  std::string text = state.id;
  if (state.running) text += *state.running ? " running" : exit_code ? " exited with " : " ended";
  if (exit_code) text += std::to_string(*exit_code);
  return error.empty() ? text : text + ": " + error;
}

std::string ProcessLine(const ListedProcess& process) {
  return Format("{}: {} (in {}, since {})", StateText(process.state),
                support::Printable(process.command), support::Printable(process.directory),
                support::FormatDate(process.started));
}

Json ProcessJson(const ListedProcess& process) {
  Json object = StateJson(process.state);
  object["command"] = process.command;
  object["directory"] = process.directory;
  object["started"] = support::FormatDate(process.started);
  return object;
}

std::string OutputText(const ProcessOutput& output) {
  const auto& [state, piece, matched, notes] = output;
  std::string text;
  if (piece.dropped > 0) text = Format("[… {} bytes left out …]\n", piece.dropped);
  shell::RedrawnLines lines;
  text += lines.Add(support::ToUtf8(piece.text));
  text += lines.Finish();
  EndLine(text);
  text += (piece.remaining == 0 && !state.running ? "[end of " : "[") + StateText(state);
  if (matched)
    text += Format("; matched: {}", support::Printable(support::CutText(*matched, kMaxShownMatch)));
  if (state.running.value_or(false) || piece.remaining > 0) {
    text += Format("; next_offset {}", piece.end);
  }
  if (piece.remaining > 0) {
    text += Format("; {} more bytes can be read now", piece.remaining);
  }
  return text + "]";
}

std::string CommandText(const CommandEnd& command) {
  const std::string& error = command.end.error;
  std::string text = command.standard_output;
  if (!command.standard_error.empty()) {
    EndLine(text);
    text += "[stderr]\n" + command.standard_error;
  }
  if (error.empty()) return text.empty() ? "[no output]" : text;
  EndLine(text);
  return Format("{}[{}]", text, error);
}

mcp::ToolResult Encode(const FileContent& file, const ResultFormat& format) {
  std::string content = R"({"content":)";
  if (IsText(format)) {
    content = file.text + file.rest;
  } else {
    mcp::AppendJsonString(content, file.text);
    content += '}';
  }
  mcp::ToolResult result = Make(format.style, std::move(content), file.notes);
  if (file.image) {
    result.more_content.push_back({{"type", "image"},
                                   {"data", support::EncodeBase64(file.image->bytes)},
                                   {"mimeType", file.image->mime_type}});
  }
  return result;
}

mcp::ToolResult Encode(const Entries& entries, const ResultFormat& format) {
  const auto& [list, notes] = entries;
  if (!IsText(format)) return Make(kStructured, ListJson("entries", list, EntryJson), notes);
  constexpr const char* kAdvice = "glob finds the others by name.";
  return Make(kText, LinesText(list, EntryLine, format, "entries", kAdvice), notes);
}

mcp::ToolResult Encode(const Matches& matches, const ResultFormat& format) {
  const auto& [paths, notes] = matches;
  if (!IsText(format)) return Make(kStructured, mcp::ToJson({{"matches", paths}}), notes);
  constexpr const char* kAdvice = "The newest are shown: narrow the pattern or the path.";
  const auto line_of = [](const std::string& path) { return support::Printable(path); };
  return Make(kText, LinesText(paths, line_of, format, "matches", kAdvice), notes);
}

mcp::ToolResult Encode(const FoundLines& found, const ResultFormat& format) {
  const auto& [lines, notes] = found;
  if (IsText(format)) return Make(kText, lines.empty() ? "[no matches]" : lines, notes);
  return Make(kStructured, mcp::ToJson({{"git_grep_output", lines}}), notes);
}

mcp::ToolResult Encode(const Written& written, const ResultFormat& format) {
  const auto& [notes, count] = written;
  if (IsText(format)) {
    const std::string text = count ? Format("[replacements: {}]", *count) : "[written]";
    return Make(kText, text, notes);
  }
  Json object = Json::object();
  if (count) object["replacements"] = *count;
  return Make(kStructured, mcp::ToJson(object), notes);
}

mcp::ToolResult Encode(const CommandEnd& command, const ResultFormat& format) {
  if (IsText(format)) return Make(kText, CommandText(command), command.notes, command.end);
  Json object = {{"stdout", command.standard_output}, {"stderr", command.standard_error}};
  AddEnd(object, command.end);
  return Make(kStructured, mcp::ToJson(object), command.notes, command.end);
}

mcp::ToolResult Encode(const ProcessState& state, const ResultFormat& format) {
  if (IsText(format)) return Make(kText, "[" + StateText(state) + "]", {}, state.end);
  return Make(kStructured, mcp::ToJson(StateJson(state)), {}, state.end);
}

mcp::ToolResult Encode(const ProcessOutput& output, const ResultFormat& format) {
  const auto& [state, piece, matched, notes] = output;
  if (IsText(format)) return Make(kText, OutputText(output), notes, state.end);
  Json object = StateJson(state);
  object["output"] = support::ToUtf8(piece.text);
  object["next_offset"] = piece.end;
  if (piece.remaining > 0) object["remaining"] = piece.remaining;
  if (piece.dropped > 0) object["dropped"] = piece.dropped;
  if (matched) object["matched"] = *matched;
  return Make(kStructured, mcp::ToJson(object), notes, state.end);
}

mcp::ToolResult Encode(const ProcessList& list, const ResultFormat& format) {
  if (!IsText(format)) {
    return Make(kStructured, ListJson("processes", list, ProcessJson), {});
  }
  std::string lines;
  for (const ListedProcess& process : list) lines += ProcessLine(process) + '\n';
  return Make(kText, lines.empty() ? "No process has been started." : lines, {});
}

}  // namespace

FetchLimits LimitsFor(const mcp::ResultFormat& format) {
  if (!IsText(format)) {
    return {.output_bytes = shell::kOutputLimit,
            .process_bytes = shell::kMaxRead,
            .search_bytes = shell::kOutputLimit,
            .file_bytes = mcp::kMaxMessageBytes / kCopies,
            .shows_beginning = false};
  }
  const std::size_t room = TextRoom(format);
  // An agent that shows little must see the end of both streams.
  const bool shows_little = format.text_bytes < mcp::ResultFormat().text_bytes;
  const std::size_t output = shows_little ? room / 2 : kMaxTextOutput;
  return {.output_bytes = std::min(shell::kOutputLimit, output),
          .process_bytes = std::min(shell::kMaxRead, room),
          .search_bytes = std::min(shell::kOutputLimit, room),
          .file_bytes = room,
          .shows_beginning = true};
}

std::size_t TextRoom(const mcp::ResultFormat& format) {
  return std::max(format.text_bytes, 2 * kLastLineRoom) - kLastLineRoom;
}

mcp::ToolResult Render(const Result& result, const ResultFormat& format) {
  return std::visit([&](const auto& one) { return Encode(one, format); }, result);
}

}  // namespace tools
