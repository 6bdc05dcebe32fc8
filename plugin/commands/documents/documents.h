// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "commands/command_table.h"

/// Texts made from the table of commands.
namespace commands {

// Markdown: a line of code, a list, and the reference of a command; in brief, it fits on a screen.
std::string Code(std::string_view title, std::string_view line);
std::string List(std::string_view title, const std::vector<Row>& rows);
std::string Reference(const Command& command, bool is_brief = false);

std::string OptionsPage();
std::string Manual();
/// For `run`, also the arguments of the agent `words[0]`. Throws Error if it is none of run's.
std::string CommandHelp(const Command& command, const std::vector<std::string>& words);
std::string ProgramHelp();

}  // namespace commands
