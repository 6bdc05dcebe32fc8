#include "changes/git_config.h"

#include "support/join.h"

namespace changes {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsNameCharacter(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || c == '-';
}

/// Each part returns false, or nothing, where git finds an error.
class Parser {
 public:
  explicit Parser(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i, 2) != "\r\n") text_ += text[i];
    }
    text_ += "\n\n";  // also after a backslash at the end
  }

  [[nodiscard]] bool AtEnd() const { return at_ >= text_.size(); }
  char Next() { return AtEnd() ? '\n' : text_[at_++]; }

  /// After "[".
  bool ReadSection() {
    section_.clear();
    while (true) {
      const char c = Next();
      if (c == ']') break;
      if (c == ' ' || c == '\t') return ReadSubsection();
      if (!IsNameCharacter(c) && c != '.') return false;
      section_ += support::LowerCase({&c, 1});
    }
    section_ += '.';
    return true;
  }

  /// A name that begins with `first`, and its value.
  std::optional<std::pair<std::string, std::string>> ReadSetting(char first) {
    std::string name = section_ + support::LowerCase({&first, 1});
    char c = Next();
    for (; IsNameCharacter(c); c = Next()) name += support::LowerCase({&c, 1});
    while (c == ' ' || c == '\t') c = Next();
    if (c == '\n') return std::pair(name, std::string());
    std::string value;
    if (c != '=' || !ReadValue(value)) return std::nullopt;
    return std::pair(name, value);
  }

 private:
  bool ReadSubsection() {
    char c = Next();
    while (c == ' ' || c == '\t') c = Next();
    if (c != '"') return false;
    section_ += '.';
    for (c = Next(); c != '"'; c = Next()) {
      if (c == '\\') c = Next();
      if (c == '\n') return false;
      section_ += c;
    }
    section_ += '.';
    return Next() == ']';
  }

  bool ReadValue(std::string& value) {
    bool is_quoted = false;
    bool is_comment = false;
    std::string spaces;  // dropped at the end
    for (char c = Next(); c != '\n'; c = Next()) {
      if (is_comment) continue;
      if (IsSpace(c) && !is_quoted) {
        if (!value.empty()) spaces += c;
        continue;
      }
      is_comment = !is_quoted && (c == '#' || c == ';');
      if (is_comment) continue;
      if (c == '"') {
        is_quoted = !is_quoted;
      } else if (c != '\\') {
        value += spaces + c;
        spaces.clear();
      } else if (!ReadEscaped(value, spaces)) {
        return false;
      }
    }
    return !is_quoted;
  }

  bool ReadEscaped(std::string& value, std::string& spaces) {
    constexpr std::string_view kNames = "tbn\\\"";
    constexpr std::string_view kMeanings = "\t\b\n\\\"";
    const char c = Next();
    if (c == '\n') return true;
    const std::size_t found = kNames.find(c);
    if (found == std::string_view::npos) return false;
    value += spaces + kMeanings[found];
    spaces.clear();
    return true;
  }

  std::string text_;
  std::size_t at_ = 0;
  std::string section_;
};

}  // namespace

std::optional<std::vector<std::pair<std::string, std::string>>> ParseGitConfig(
    std::string_view text) {
  std::vector<std::pair<std::string, std::string>> settings;
  Parser parser(text);
  bool is_comment = false;
  while (!parser.AtEnd()) {
    const char c = parser.Next();
    if (c == '\n') is_comment = false;
    if (is_comment || IsSpace(c)) continue;
    is_comment = c == '#' || c == ';';
    if (is_comment) continue;
    if (c == '[') {
      if (!parser.ReadSection()) return std::nullopt;
      continue;
    }
    auto setting = IsLetter(c) ? parser.ReadSetting(c) : std::nullopt;
    if (!setting) return std::nullopt;
    settings.push_back(std::move(*setting));
  }
  return settings;
}

}  // namespace changes
