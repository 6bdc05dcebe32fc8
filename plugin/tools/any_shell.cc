#include "tools/any_shell.h"

#include <stdexcept>

namespace tools {

/// `=` and the word as it is, or `%` and the word for printf's %b.
AnyShellWord::AnyShellWord(std::string_view word) {
  if (word.find_first_of("'!\n\\") == std::string_view::npos) {
    encoded_ = "=" + std::string(word);
    return;
  }
  encoded_ = "%";
  for (const char c : word) {
    switch (c) {
      case '\'':
        encoded_ += "\\0047";
        break;
      case '!':
        encoded_ += "\\0041";
        break;
      case '\n':
        encoded_ += "\\0012";
        break;
      case '\\':
        encoded_ += "\\0134";
        break;
      default:
        encoded_ += c;
    }
  }
}

AnyShellWord AnyShellWord::OnStandardInput(std::size_t length) {
  AnyShellWord word;
  word.encoded_ = "<" + std::to_string(length);
  return word;
}

std::string AnyShellLine(std::string_view script, const std::vector<AnyShellWord>& words) {
  if (script.find_first_of("'!\n") != std::string_view::npos ||
      script.find("\\\\") != std::string_view::npos) {
    throw std::logic_error("a script that not every shell reads alike");
  }
  std::string line = "exec /bin/sh -c '" + std::string(script) + "' sh";
  for (const AnyShellWord& word : words) line += " '" + word.encoded() + "'";
  return line;
}

}  // namespace tools
