#include "tools/command_arguments.h"

#include <nlohmann/json.hpp>

#include "shell/shell_quote.h"
#include "support/errors.h"

namespace tools {
namespace {

constexpr int kCommandNotFound = 127;

/// Bytes of a line that the hint repeats.
constexpr std::size_t kMaxShownLine = 1024;

}  // namespace

std::vector<std::string> CommandArgument(const nlohmann::json& arguments) {
  auto command = arguments.at("command").get<std::vector<std::string>>();
  if (command.empty()) {
    throw support::CallError(
        "command is an empty list: give the program and its arguments, such as [\"ls\",\"-l\"]");
  }
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i].find('\0') != std::string::npos) {
      throw support::CallError("command[" + std::to_string(i) +
                               "] contains a NUL character, which no argument can");
    }
  }
  return command;
}

std::string CommandText(const std::vector<std::string>& words) {
  std::string command = shell::ShellCommand(words);
  if (command.size() > kMaxShellCommand) {
    throw support::CallError("argument list too long: the command takes " +
                             std::to_string(command.size()) +
                             " bytes when quoted for the guest's shell, which accepts at most " +
                             std::to_string(kMaxShellCommand) +
                             ". Write long text to a file with write_file and name the file.");
  }
  return command;
}

std::string ShellLineHint(int status, const std::vector<std::string>& words) {
  // One word with characters for a shell: the list was probably meant as a line.
  const bool is_shell_line =
      words.size() == 1 &&
      words.front().find_first_of(" \t\n|&;<>()$`\\\"'*?[]{}#~!") != std::string::npos;
  if (status != kCommandNotFound || !is_shell_line) return "";
  const std::string line = words.front().size() <= kMaxShownLine ? words.front() : "...";
  return "command is a list of words, not a shell line; use " +
         nlohmann::json{"bash", "-c", line}.dump(-1, ' ', false,
                                                 nlohmann::json::error_handler_t::replace);
}

}  // namespace tools
