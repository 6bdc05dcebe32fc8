#include <string>
#include <vector>

#include "commands/commands.h"

int main(int argc, char** argv) {
  // A caller may start a program without even its own name.
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return commands::Run(arguments);
}
