#include "shell/shell_quote.h"

#include <algorithm>

namespace shell {
namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool StaysBare(char c) {
  return IsNameCharacter(c) || std::string_view("@%+=:,./-").find(c) != std::string_view::npos;
}

/// The length of `NAME=` or `NAME+=` at the beginning of `argument`; 0 if there is none.
std::size_t AssignmentPrefix(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return 0;
  std::string_view name = argument.substr(0, equals);
  if (name.ends_with('+')) name.remove_suffix(1);
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return 0;
  return std::all_of(name.begin(), name.end(), IsNameCharacter) ? equals + 1 : 0;
}

}  // namespace

std::string ShellQuote(std::string_view word) {
  if (word.empty()) return "''";
  if (std::all_of(word.begin(), word.end(), StaysBare)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\"'\"'";
    } else {
      quoted += c;
    }
  }
  quoted += '\'';
  return quoted;
}

std::string ShellCommand(const std::vector<std::string>& arguments) {
  std::string line;
  bool assignments = true;
  for (const std::string& argument : arguments) {
    if (!line.empty()) line += ' ';
    const std::size_t prefix = assignments ? AssignmentPrefix(argument) : 0;
    assignments = prefix > 0;
    line += argument.substr(0, prefix);
    line += ShellQuote(std::string_view(argument).substr(prefix));
  }
  return line;
}

}  // namespace shell
