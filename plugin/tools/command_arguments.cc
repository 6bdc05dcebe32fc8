#include "tools/command_arguments.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "shell/shell_quote.h"
#include "support/errors.h"

namespace tools {
namespace {

constexpr int kCommandNotFound = 127;

/// Bytes of a line that the hint repeats.
constexpr std::size_t kMaxShownLine = 1024;

}  // namespace

Command ParseCommand(const nlohmann::json& arguments) {
  const auto words = arguments.at("command").get<std::vector<std::string>>();
  if (words.empty()) {
    throw support::CallError(
        "command is an empty list: give the program and its arguments, such as [\"ls\",\"-l\"]");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].find('\0') != std::string::npos) {
      throw support::CallError("command[" + std::to_string(i) +
                               "] contains a NUL character, which no argument can");
    }
  }
  std::string text = shell::ShellCommand(words);
  if (text.size() > kMaxShellCommand) {
    throw support::CallError("argument list too long: the command takes " +
                             std::to_string(text.size()) +
                             " bytes when quoted for the guest's shell, which accepts at most " +
                             std::to_string(kMaxShellCommand) +
                             ". Write long text to a file with write_file and name the file.");
  }
  return {words, std::move(text)};
}

std::string ShellLineHint(int status, const Command& command) {
  // One word with characters for a shell: the list was probably meant as a line.
  const std::string& first = command.words.front();
  const bool is_shell_line =
      command.words.size() == 1 &&
      first.find_first_of(" \t\n|&;<>()$`\\\"'*?[]{}#~!") != std::string::npos;
  if (status != kCommandNotFound || !is_shell_line) return "";
  const std::string line = first.size() <= kMaxShownLine ? first : "...";
  return "command is a list of words, not a shell line; use " +
         nlohmann::json{"bash", "-c", line}.dump(-1, ' ', false,
                                                 nlohmann::json::error_handler_t::replace);
}

}  // namespace tools
