#include "tools/text_results.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

#include "support/printable.h"
#include "support/units.h"
#include "support/utf8.h"

namespace tools {
namespace {

/// In bytes: for the line in brackets.
constexpr std::size_t kLastLineRoom = 512;

void EndLine(std::string& text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
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

char TypeLetter(guest::FileType type) {
  switch (type) {
    case guest::FileType::kRegular:
      return '-';
    case guest::FileType::kDirectory:
      return 'd';
    case guest::FileType::kSymlink:
      return 'l';
    case guest::FileType::kFifo:
      return 'p';
    case guest::FileType::kSocket:
      return 's';
    case guest::FileType::kCharacterDevice:
      return 'c';
    case guest::FileType::kBlockDevice:
      return 'b';
    case guest::FileType::kUnknown:
      return '?';
  }
  return '?';
}

}  // namespace

bool WantsText(const mcp::ToolCall& call) {
  return call.format.style == mcp::ResultStyle::kText;
}

std::size_t TextRoom(const mcp::ToolCall& call) {
  return std::max(call.format.text_bytes, 2 * kLastLineRoom) - kLastLineRoom;
}

std::string CutBeginning(std::string& bytes, bool is_whole, std::size_t maximum_bytes) {
  const std::size_t lines_end = EndOfLines(bytes, kMaximumTextLines);
  if (is_whole && lines_end == bytes.size()) return "";
  bytes.resize(std::min(lines_end, maximum_bytes));
  const std::size_t last_line_end = bytes.rfind('\n');
  if (last_line_end == std::string::npos) {
    constexpr std::size_t kLongestCharacter = 4;
    const std::size_t valid = support::ValidUtf8Prefix(bytes);
    if (bytes.size() - valid < kLongestCharacter) bytes.resize(valid);
    return "\n[Line 0 is longer than " + support::FormatByteCount(maximum_bytes) +
           "; this is its beginning. offset 0 with limit 1 returns all of it. Go on after it with "
           "offset 1.]";
  }
  bytes.resize(last_line_end + 1);
  const auto lines = std::count(bytes.begin(), bytes.end(), '\n');
  return "[There is more. Go on with offset " + std::to_string(lines) +
         "; with limit, up to the whole rest is returned.]";
}

std::string LinesText(const std::vector<std::string>& items, std::size_t maximum_bytes,
                      std::string_view what, std::string_view advice) {
  if (items.empty()) return "[no " + std::string(what) + "]";
  std::string text;
  std::size_t shown = 0;
  for (; shown < items.size() && text.size() + items[shown].size() < maximum_bytes; ++shown) {
    text += items[shown];
    text += '\n';
  }
  if (shown < items.size()) {
    text += "[" + std::to_string(shown) + " of " + std::to_string(items.size()) + " " +
            std::string(what) + ". " + std::string(advice) + "]";
  }
  return text;
}

std::string EntryLine(const guest::DirectoryEntry& entry) {
  const guest::FileAttributes& attributes = entry.attributes;
  std::string mode(1, TypeLetter(attributes.type));
  for (int shift = 6; shift >= 0; shift -= 3) {
    const std::uint32_t bits = attributes.permissions >> static_cast<unsigned>(shift);
    mode += (bits & 4U) != 0 ? 'r' : '-';
    mode += (bits & 2U) != 0 ? 'w' : '-';
    mode += (bits & 1U) != 0 ? 'x' : '-';
  }
  // Like ls: s and t where x is set too.
  if ((attributes.permissions & 04000U) != 0) mode[3] = mode[3] == 'x' ? 's' : 'S';
  if ((attributes.permissions & 02000U) != 0) mode[6] = mode[6] == 'x' ? 's' : 'S';
  if ((attributes.permissions & 01000U) != 0) mode[9] = mode[9] == 'x' ? 't' : 'T';
  const std::time_t modified = attributes.modified;
  std::tm parts{};
  ::gmtime_r(&modified, &parts);
  std::array<char, 64> time{};
  const std::size_t length = std::strftime(time.data(), time.size(), "%Y-%m-%d %H:%M", &parts);
  std::string size = std::to_string(attributes.size);
  constexpr std::size_t kSizeWidth = 9;
  if (size.size() < kSizeWidth) size.insert(0, kSizeWidth - size.size(), ' ');
  return mode + " " + size + " " + std::string(time.data(), length) + " " +
         support::Printable(entry.name) +
         (attributes.type == guest::FileType::kDirectory ? "/" : "");
}

std::string CommandText(std::string standard_output, std::string_view standard_error,
                        std::optional<int> exit_code, std::string_view error) {
  std::string text = std::move(standard_output);
  if (!standard_error.empty()) {
    EndLine(text);
    text += "[stderr]\n";
    text += standard_error;
  }
  if (error.empty() && !text.empty()) return text;
  EndLine(text);
  if (error.empty()) return "[no output]";
  const bool names_code = error.starts_with("exit status ");
  text += "[";
  if (exit_code && !names_code) text += "exit code " + std::to_string(*exit_code) + ": ";
  text += error;
  return text + "]";
}

}  // namespace tools
