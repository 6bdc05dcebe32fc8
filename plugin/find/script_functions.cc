#include "find/script_functions.h"

#include <string>

#include "find/programs.h"
#include "shell/shell_quote.h"

namespace find {

std::string_view ScriptFunctions() {
  static const std::string functions = [] {
    const std::string git = std::string(git_program) + std::string(ignored_program);
    return "git_functions=" + shell::ShellQuote(git) + "\neval \"$git_functions\"\n" +
           std::string(search_program) + std::string(walk_program);
  }();
  return functions;
}

}  // namespace find
