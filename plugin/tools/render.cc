#include <algorithm>
#include <array>
#include <utility>

#include "mcp/json_writer.h"
#include "support/printable.h"
#include "support/units.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {
namespace {

using guest::FileAttributes;
using mcp::ObjectWriter;
using mcp::ResultFormat;

/// In bytes: for the line in brackets.
constexpr std::size_t kLastLineRoom = 512;

/// Structured content is sent twice, once escaped in a text. A byte of a string takes up to
/// `\u001f` and `\\u001f`.
constexpr std::size_t kCopies = 2;
constexpr std::size_t kMaxCopiesPerByte = 6 + 7;

/// For the members beside the output, such as an error.
constexpr std::size_t kOtherBytes = std::size_t{1} << 20;
static_assert(2 * kMaxOutputLimit * kMaxCopiesPerByte + kOtherBytes <= mcp::kMaxMessageBytes);

/// `text` returns the result as text, `members` writes those of the structured content.
template <typename Text, typename Members>
mcp::ToolResult Encode(const ResultFormat& format, const Text& text, const Members& members,
                       const Notes& notes, const End& end = {}) {
  const bool is_text = format.style == mcp::ResultStyle::kText;
  mcp::ToolResult result = {.style = format.style,
                            .content = is_text ? text() : mcp::ObjectText(members),
                            .exit_code = end.exit_code,
                            .error = end.error};
  for (const std::string& note : notes) {
    if (!note.empty()) result.more_content.push_back({{"type", "text"}, {"text", note}});
  }
  return result;
}

void EndLine(std::string& text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
}

/// One item on a line, as far as they fit; then how many there are and `advice`.
template <typename Items, typename Line>
std::string LinesText(const Items& items, const Line& line_of, const ResultFormat& format,
                      const std::string& what, const char* advice) {
  if (items.empty()) return "[no " + what + "]";
  std::string text;
  std::size_t shown = 0;
  for (const auto& item : items) {
    const std::string line = line_of(item);
    if (text.size() + line.size() >= TextRoom(format)) {
      return text + "[" + std::to_string(shown) + " of " + std::to_string(items.size()) + " " +
             what + ". " + advice + "]";
    }
    text += line + '\n';
    ++shown;
  }
  return text;
}

/// `append` writes an item as JSON.
template <typename Items, typename Append>
void WriteList(ObjectWriter& object, const char* key, const Items& items, const Append& append) {
  std::string& out = object.Key(key);
  out += '[';
  for (const auto& item : items) {
    if (out.back() != '[') out += ',';
    append(out, item);
  }
  out += ']';
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
  return ModeText(attributes) + " " + size + " " +
         support::FormatTime(attributes.modified, "%Y-%m-%d %H:%M") + " " +
         support::Printable(entry.name) +
         (attributes.type == guest::FileType::kDirectory ? "/" : "");
}

void AppendEntry(std::string& out, const guest::DirectoryEntry& entry) {
  const FileAttributes& attributes = entry.attributes;
  ObjectWriter object(out);
  object.Member("name", entry.name);
  object.RawMember("size", std::to_string(attributes.size));
  object.RawMember("mode", std::to_string(GoFileMode(attributes)));
  object.Member("time",
                support::FormatTime(attributes.modified, "%Y-%m-%dT%H:%M:%SZ"));  // RFC 3339
  object.RawMember("is_dir", attributes.type == guest::FileType::kDirectory ? "true" : "false");
  object.End();
}

void WriteEnd(ObjectWriter& object, const End& end) {
  if (!end.error.empty()) object.Member("error", end.error);
  if (end.exit_code) object.RawMember("exit_code", std::to_string(*end.exit_code));
}

void WriteState(ObjectWriter& object, const ProcessState& state) {
  object.Member("id", state.id);
  if (state.running) object.RawMember("running", *state.running ? "true" : "false");
  WriteEnd(object, state.end);
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
  return StateText(process.state) + ": " + support::Printable(process.command) + " (in " +
         support::Printable(process.directory) + ", since " + support::FormatDate(process.started) +
         ")";
}

void AppendProcess(std::string& out, const ListedProcess& process) {
  ObjectWriter object(out);
  WriteState(object, process.state);
  object.Member("command", process.command);
  object.Member("directory", process.directory);
  object.Member("started", support::FormatDate(process.started));
  object.End();
}

std::string OutputText(const ProcessOutput& output) {
  const auto& [state, piece] = output;
  std::string text;
  if (piece.dropped > 0) text = "[" + std::to_string(piece.dropped) + " bytes before are gone]\n";
  text += piece.text;
  EndLine(text);
  text += (piece.remaining == 0 && !state.running ? "[end of " : "[") + StateText(state);
  if (state.running.value_or(false) || piece.remaining > 0) {
    text += "; next_offset " + std::to_string(piece.end);
  }
  if (piece.remaining > 0) {
    text += "; " + std::to_string(piece.remaining) + " more bytes can be read now";
  }
  return text + "]";
}

std::string CommandText(const CommandEnd& command) {
  const auto& [exit_code, error] = command.end;
  std::string text = command.standard_output;
  if (!command.standard_error.empty()) {
    EndLine(text);
    text += "[stderr]\n" + command.standard_error;
  }
  if (error.empty()) return text.empty() ? "[no output]" : text;
  EndLine(text);
  const bool names_code = !exit_code || error.starts_with("exit status ");
  return text + "[" + (names_code ? "" : "exit code " + std::to_string(*exit_code) + ": ") + error +
         "]";
}

}  // namespace

FetchLimits LimitsFor(const mcp::ResultFormat& format, const ToolOptions& options) {
  if (format.style == mcp::ResultStyle::kStructured) {
    return {.output_bytes = options.max_output_bytes,
            .process_bytes = shell::kMaxRead,
            .search_bytes = options.max_output_bytes,
            .file_bytes = mcp::kMaxMessageBytes / kCopies,
            .shows_beginning = false};
  }
  const std::size_t room = TextRoom(format);
  // An agent that shows little must see the end of both streams.
  const bool shows_little = format.text_bytes < mcp::ResultFormat().text_bytes;
  const std::size_t output = shows_little ? room / 2 : kMaxTextOutput;
  return {.output_bytes = std::min(options.max_output_bytes, output),
          .process_bytes = std::min(shell::kMaxRead, room),
          .search_bytes = std::min(options.max_output_bytes, room),
          .file_bytes = room,
          .shows_beginning = true};
}

std::size_t TextRoom(const mcp::ResultFormat& format) {
  return std::max(format.text_bytes, 2 * kLastLineRoom) - kLastLineRoom;
}

mcp::ToolResult Render(const FileContent& file, const ResultFormat& format) {
  const auto text = [&] { return file.text + file.rest; };
  const auto members = [&](ObjectWriter& object) { object.Member("content", file.text); };
  mcp::ToolResult result = Encode(format, text, members, file.notes);
  if (file.image) {
    result.more_content.push_back({{"type", "image"},
                                   {"data", support::EncodeBase64(file.image->bytes)},
                                   {"mimeType", file.image->mime_type}});
  }
  return result;
}

mcp::ToolResult Render(const Entries& entries, const ResultFormat& format) {
  const auto text = [&] {
    return LinesText(entries.entries, EntryLine, format, "entries",
                     "glob finds the others by name.");
  };
  const auto members = [&](ObjectWriter& object) {
    WriteList(object, "entries", entries.entries, AppendEntry);
  };
  return Encode(format, text, members, entries.notes);
}

mcp::ToolResult Render(const Matches& matches, const ResultFormat& format) {
  const auto text = [&] {
    return LinesText(matches.paths, support::Printable, format, "matches",
                     "The newest are shown: narrow the pattern or the path.");
  };
  const auto members = [&](ObjectWriter& object) {
    WriteList(object, "matches", matches.paths, mcp::AppendJsonString);
  };
  return Encode(format, text, members, matches.notes);
}

mcp::ToolResult Render(const FoundLines& found, const ResultFormat& format) {
  const auto text = [&] { return found.lines.empty() ? "[no matches]" : found.lines; };
  const auto members = [&](ObjectWriter& object) { object.Member("git_grep_output", found.lines); };
  return Encode(format, text, members, found.notes);
}

mcp::ToolResult Render(const Written& written, const ResultFormat& format) {
  const auto& count = written.replacements;
  const auto text = [&] {
    return count ? "[replacements: " + std::to_string(*count) + "]" : "[written]";
  };
  const auto members = [&](ObjectWriter& object) {
    if (count) object.RawMember("replacements", std::to_string(*count));
  };
  return Encode(format, text, members, written.notes);
}

mcp::ToolResult Render(const CommandEnd& command, const ResultFormat& format) {
  const auto text = [&] { return CommandText(command); };
  const auto members = [&](ObjectWriter& object) {
    object.Member("stdout", command.standard_output);
    object.Member("stderr", command.standard_error);
    WriteEnd(object, command.end);
  };
  return Encode(format, text, members, {}, command.end);
}

mcp::ToolResult Render(const ProcessState& state, const ResultFormat& format) {
  const auto text = [&] { return "[" + StateText(state) + "]"; };
  const auto members = [&](ObjectWriter& object) { WriteState(object, state); };
  return Encode(format, text, members, {}, state.end);
}

mcp::ToolResult Render(const ProcessOutput& output, const ResultFormat& format) {
  const auto text = [&] { return OutputText(output); };
  const auto members = [&](ObjectWriter& object) {
    const shell::OutputLog::Piece& piece = output.piece;
    WriteState(object, output.state);
    object.Member("output", piece.text);
    object.RawMember("next_offset", std::to_string(piece.end));
    if (piece.remaining > 0) object.RawMember("remaining", std::to_string(piece.remaining));
    if (piece.dropped > 0) object.RawMember("dropped", std::to_string(piece.dropped));
  };
  return Encode(format, text, members, {}, output.state.end);
}

mcp::ToolResult Render(const ProcessList& list, const ResultFormat& format) {
  const auto text = [&] {
    std::string lines;
    for (const ListedProcess& process : list.processes) lines += ProcessLine(process) + '\n';
    return lines.empty() ? "No process has been started." : lines;
  };
  const auto members = [&](ObjectWriter& object) {
    WriteList(object, "processes", list.processes, AppendProcess);
  };
  return Encode(format, text, members, {});
}

}  // namespace tools
