// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxopts.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command_table.h"

namespace commands {

/// What a command is called with. An option with a value has "" unless it is given or has a
/// default. The values of one that is a list are in arguments().
struct Parsed : cxxopts::ParseResult {
  std::vector<std::string> rest = {};  ///< behind "--", for a command with "[-- WORDS]"

  [[nodiscard]] std::string Positional(std::size_t i, const std::string& otherwise = "") const {
    return i < unmatched().size() ? unmatched()[i] : otherwise;
  }
};

/// The value of an option that is the last word, without one: see Values.
inline constexpr const char* kAlone = "\n";

/// Reads the arguments of a command as the table has them: each option once unless it is a list,
/// and empty values only if it may have one. Empty after printing the help. Throws Error.
std::optional<Parsed> Parse(const Command& command, std::vector<std::string> arguments);

/// `unknown KIND "WORD".`, and the known word that may be meant.
std::string UnknownText(const std::string& kind, const std::string& word,
                        const std::vector<std::string>& known);

}  // namespace commands
