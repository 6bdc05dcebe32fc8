// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The arguments that a user may pass to an agent after `--`. Only options that are known to be
/// harmless pass, so that an option of a later version cannot undo the confinement.
namespace agents {

/// One way to call an agent.
struct Mode {
  std::string_view command;  ///< the first word; empty: none
  /// The options that pass, between spaces: `--option`, `--option=` with a value, `--option=a|b`
  /// with one of these values, `--option?` with or without a value.
  std::string_view options;
  bool takes_prompt = false;  ///< as further words
  bool has_commands = false;  ///< the first of these words may be a command
};

/// Why options are refused that users are likely to try; "--" may be among them.
struct Refusal {
  std::string_view reason;
  std::string_view options;  ///< between spaces
};

// Reasons that several agents share.
inline constexpr std::string_view kSettingsReason =
    "it would replace the settings that confine the agent";
inline constexpr std::string_view kTrustReason = "give --trust before -- instead";
inline constexpr std::string_view kHostReason = "it lets the agent read or work on the host";

struct ArgumentRules {
  std::string_view title;       ///< of the agent
  std::span<const Mode> modes;  ///< first the one without a command
  std::span<const Refusal> refusals;
};

/// The error for the first argument that does not pass; empty if all pass. Options must be spelled
/// `--name`, `--name VALUE` or `--name=VALUE`; short ones are not joined.
std::optional<std::string> FindRefused(std::span<const std::string> arguments,
                                       const ArgumentRules& rules);

/// The arguments that pass and those that do not, as Markdown with lines of any length.
std::string ArgumentHelp(const ArgumentRules& rules);

}  // namespace agents
