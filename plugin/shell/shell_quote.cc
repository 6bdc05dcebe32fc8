// SPDX-License-Identifier: Apache-2.0
#include "shell/shell_quote.h"

#include <re2/re2.h>

namespace shell {

using re2::RE2;

std::string ShellQuote(std::string_view word) {
  static const RE2 bare(R"([\w@%+=:,./-]+)");
  std::string quoted(word);
  if (RE2::FullMatch(quoted, bare)) return quoted;
  RE2::GlobalReplace(&quoted, "'", R"('"'"')");
  return "'" + quoted + "'";
}

std::string ShellCommand(const std::vector<std::string>& arguments) {
  static const RE2 assignment(R"([A-Za-z_]\w*\+?=)");
  std::string line;
  bool assignments = true;
  for (const std::string& argument : arguments) {
    if (!line.empty()) line += ' ';
    re2::StringPiece rest(argument);
    assignments = assignments && RE2::Consume(&rest, assignment);
    line.append(argument, 0, argument.size() - rest.size());
    line += ShellQuote({rest.data(), rest.size()});
  }
  return line;
}

}  // namespace shell
