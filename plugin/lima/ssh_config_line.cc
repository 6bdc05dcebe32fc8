#include "lima/ssh_config_line.h"

#include <algorithm>

#include "lima/configuration_error.h"
#include "support/lower_case.h"

namespace lima {
namespace {

constexpr std::string_view kSpaces = " \t\r\f";

bool IsSpace(char c) {
  return kSpaces.find(c) != std::string_view::npos;
}

void SkipSpaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
}

std::string TakeKeyword(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" \t\r\f="), text.size());
  std::string keyword = support::LowerCase(text.substr(0, end));
  text.remove_prefix(end);
  SkipSpaces(text);
  if (text.starts_with('=')) text.remove_prefix(1);
  return keyword;
}

bool IsProtected(std::string_view text, bool in_quotes) {
  if (text.size() < 2 || text.front() != '\\') return false;
  const char next = text[1];
  return next == '\\' || next == '"' || next == '\'' || (!in_quotes && next == ' ');
}

std::string TakeArgument(std::string_view& text) {
  std::string argument;
  char quote = '\0';
  while (!text.empty() && (quote != '\0' || !IsSpace(text.front()))) {
    const char c = text.front();
    if (IsProtected(text, quote != '\0')) {
      argument += text[1];
      text.remove_prefix(2);
      continue;
    }
    text.remove_prefix(1);
    if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != '\0' && c == quote) {
      quote = '\0';
    } else {
      argument += c;
    }
  }
  if (quote != '\0') throw ConfigurationError("a quote has no end");
  return argument;
}

}  // namespace

SshConfigLine SplitSshConfigLine(std::string_view line) {
  SshConfigLine result;
  SkipSpaces(line);
  if (line.empty() || line.starts_with('#')) return result;
  result.keyword = TakeKeyword(line);
  for (SkipSpaces(line); !line.empty() && !line.starts_with('#'); SkipSpaces(line)) {
    result.arguments.push_back(TakeArgument(line));
  }
  return result;
}

}  // namespace lima
