// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Completions of shells, from the table of commands.
namespace commands {

/// Texts for each command, one after the other. @COMMAND@, @NAME@, @VALUE@, @BRIEF@, @OFFER@ and
/// @NUMBER@ (from 0) are replaced in them; @*@ by "*" for an option that may be repeated.
struct CompletionFormat {
  std::string_view command = {};  ///< before its options
  std::string_view option = {};   ///< one without a value
  std::string_view value = {};    ///< an option with a value
  std::string_view argument = {};
  std::string_view end = {};
  std::string (*quoted)(std::string_view text) = [](std::string_view text) {
    return std::string(text);
  };
  // Replacements of @OFFER@.
  std::string_view nothing = "nothing";
  std::string_view directories = "directories";
  std::string_view files = "files";
  std::string_view instances = "instances";
  std::string_view words = "@WORDS@";
};

std::string Completion(const CompletionFormat& format);

}  // namespace commands
