#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

/// The `command` of run_shell_command and start_process.
namespace tools {

/// Bytes of a command as a login shell's -c receives it: Linux's MAX_ARG_STRLEN (32 pages) without
/// the closing NUL.
inline constexpr std::size_t kMaxShellCommand = std::size_t{128} * 1024 - 1;

struct Command {
  std::vector<std::string> words;  ///< at least one
  std::string text;                ///< as shell::ShellCommand
};

/// Throws support::CallError for an empty list, a word with NUL, or a text above kMaxShellCommand.
Command ParseCommand(const nlohmann::json& arguments);

/// What to do if the guest found no such command (exit status 127) because it is a line for a
/// shell; else empty.
std::string ShellLineHint(int status, const Command& command);

}  // namespace tools
