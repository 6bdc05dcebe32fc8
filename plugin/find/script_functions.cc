#include "find/script_functions.h"

#include <string>

#include "find/programs.h"

namespace find {

std::string_view ScriptFunctions() {
  static const std::string functions =
      std::string(git_program) + std::string(search_program) + std::string(walk_program);
  return functions;
}

}  // namespace find
