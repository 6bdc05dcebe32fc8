// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxopts.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command_table.h"

namespace commands {

/// Reads the arguments of a command as the table has them: each option once unless it is a list,
/// whose values are in ParseResult::arguments(). Positional arguments are ParseResult::unmatched().
/// `as` is only for options that are given or have a default. Empty after printing the help. Throws
/// UsageError.
std::optional<cxxopts::ParseResult> Parse(const Command& command,
                                          const std::vector<std::string>& arguments);

/// The same for a command of that name.
std::optional<cxxopts::ParseResult> Parse(std::string_view command,
                                          const std::vector<std::string>& arguments);

/// `unknown KIND "WORD".`, and the known word that may be meant.
std::string UnknownText(const std::string& kind, const std::string& word,
                        const std::vector<std::string>& known);

}  // namespace commands
