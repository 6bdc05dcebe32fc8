// SPDX-License-Identifier: Apache-2.0
#include "shell/shell_quote.h"

#include "support/regex.h"

namespace shell {

std::string ShellQuote(std::string_view word) {
  static const support::Regex bare(R"([\w@%+=:,./-]+)");
  std::string quoted(word);
  if (bare.FullMatch(quoted)) return quoted;
  support::Regex("'").ReplaceAll(quoted, R"('"'"')");
  return "'" + quoted + "'";
}

std::string ShellCommand(const std::vector<std::string>& arguments) {
  static const support::Regex assignment(R"([A-Za-z_]\w*\+?=)");
  std::string line;
  bool assignments = true;
  for (const std::string& argument : arguments) {
    if (!line.empty()) line += ' ';
    std::string_view rest(argument);
    assignments = assignments && assignment.Consume(rest);
    line.append(argument, 0, argument.size() - rest.size());
    line += ShellQuote(rest);
  }
  return line;
}

}  // namespace shell
