#include "configure/toml_statements.h"

#include <toml++/toml.h>

#include <algorithm>

#include "configure/settings_error.h"
#include "configure/text_form.h"

namespace configure {
namespace {

/// Throws unless the whole text is valid, so that the scanner below need not doubt what it sees.
void Validate(const std::string& text) {
  try {
    (void)toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw SettingsError({.line = at.line, .column = at.column}, std::string(error.description()));
  }
}

/// Finds the statements of a text, which CheckKeys and Validate have let pass.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), at_(ByteOrderMarkSize(text)) {}

  /// Throws where a key or a header has too many names. The text need not be valid: up to where the
  /// library finds its first error, strings and comments end here where they end there.
  void CheckKeys() {
    std::size_t names = 1;
    while (at_ < text_.size()) {
      const char byte = text_[at_];
      if (byte == '"' || byte == '\'') {
        PassString();
        continue;
      }
      if (byte == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (byte == '.' && ++names > kMaximumTomlNames) {
        throw SettingsError(
            PositionAt(text_, at_),
            "this key has more than " + std::to_string(kMaximumTomlNames) + " names");
      }
      if (std::string_view("\n=,[]{}").find(byte) != std::string_view::npos) names = 1;
      ++at_;
    }
  }

  std::vector<TomlStatement> Scan() {
    while (at_ < text_.size()) {
      const std::size_t line = at_;
      SkipBlanks();
      if (Sees('[')) {
        ScanHeader(line);
      } else if (at_ < text_.size() && !Sees('#') && !Sees('\n') && !Sees('\r')) {
        ScanKey(line);
      }
      at_ = EndOfLine(at_);
      if (!statements_.empty() && statements_.back().begin == line) statements_.back().end = at_;
    }
    return std::move(statements_);
  }

 private:
  [[nodiscard]] bool Sees(char byte) const { return at_ < text_.size() && text_[at_] == byte; }
  void SkipBlanks() { at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size()); }
  [[nodiscard]] std::size_t EndOfLine(std::size_t from) const {
    const std::size_t newline = text_.find('\n', from);
    return newline == std::string_view::npos ? text_.size() : newline + 1;
  }

  void ScanHeader(std::size_t line) {
    const bool of_array = text_.substr(at_).starts_with("[[");
    at_ += of_array ? 2U : 1U;
    table_ = ScanPath();
    statements_.push_back(
        {.kind = of_array ? TomlStatement::Kind::kTableOfArray : TomlStatement::Kind::kTable,
         .path = table_,
         .table_depth = table_.size(),
         .begin = line});
  }

  void ScanKey(std::size_t line) {
    TomlStatement statement{.kind = TomlStatement::Kind::kKey,
                            .path = table_,
                            .table_depth = table_.size(),
                            .begin = line};
    const KeyPath names = ScanPath();
    statement.path.insert(statement.path.end(), names.begin(), names.end());
    ++at_;  // '='
    SkipBlanks();
    statement.value = at_;
    PassValue();
    statement.value_end = text_.find_last_not_of(" \t\r\n", at_ - 1) + 1;
    statements_.push_back(std::move(statement));
  }

  KeyPath ScanPath() {
    KeyPath path;
    while (true) {
      SkipBlanks();
      path.push_back(ScanName());
      SkipBlanks();
      if (!Sees('.')) return path;
      ++at_;
    }
  }

  std::string ScanName() {
    const std::size_t begin = at_;
    if (Sees('"') || Sees('\'')) {
      PassString();
      const std::string quoted(text_.substr(begin, at_ - begin));
      return *toml::parse("name = " + quoted)["name"].value<std::string>();
    }
    at_ = std::min(text_.find_first_of(" \t.]=\r\n", at_), text_.size());
    return std::string(text_.substr(begin, at_ - begin));
  }

  /// To the end of the line, or of the brackets and multi-line strings opened on it.
  void PassValue() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char byte = text_[at_];
      if (byte == '"' || byte == '\'') {
        PassString();
        continue;
      }
      if (byte == '#' || byte == '\n') {
        if (depth == 0) return;
        at_ = EndOfLine(at_);
        continue;
      }
      if (byte == '[' || byte == '{') ++depth;
      if (byte == ']' || byte == '}') --depth;
      ++at_;
    }
  }

  void PassString() {
    const char quote = text_[at_];
    const std::string_view rest = text_.substr(at_);
    const bool multi_line = rest.starts_with(quote == '"' ? R"(""")" : "'''");
    at_ += multi_line ? 3U : 1U;
    const std::string close(multi_line ? 3U : 1U, quote);
    while (at_ < text_.size() && !text_.substr(at_).starts_with(close)) {
      at_ += quote == '"' && text_[at_] == '\\' ? 2U : 1U;
    }
    at_ += close.size();
    // Up to two quotes may stand right before the three that close.
    while (multi_line && Sees(quote)) ++at_;
  }

  std::string_view text_;
  std::size_t at_;
  KeyPath table_;
  std::vector<TomlStatement> statements_;
};

}  // namespace

std::vector<TomlStatement> ParseToml(const std::string& text) {
  // The library makes a table of each name, and takes them down by recursion.
  Scanner(text).CheckKeys();
  Validate(text);
  return Scanner(text).Scan();
}

bool SameTomlValue(const std::string& left, const std::string& right) {
  return toml::parse("value = " + left) == toml::parse("value = " + right);
}

}  // namespace configure
