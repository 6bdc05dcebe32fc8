// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/project.h"
#include "copy/checkpoints.h"
#include "support/errors.h"

namespace commands {

int Undo(const Parsed& parsed) {
  // Digits are a number, any other first word is the instance.
  const std::string first = parsed.Positional(0);
  const bool has_number =
      !first.empty() && first.find_first_not_of("0123456789") == std::string::npos;
  if (!has_number && !parsed.Positional(1).empty())
    throw support::Error("\"{}\" is no number of a checkpoint; `limactl mcp log` lists them",
                         first);
  const Instance instance =
      LoadInstance(parsed.Positional(has_number ? 1 : 0, kAgentInstance), false, true);
  copy::Copy copy(instance, ReadChoice(parsed), "undo");
  const auto ask = [](const std::string& question) { return AskUser(question, false); };
  copy::Undo(copy, has_number ? first : "", parsed["yes"].as<bool>() ? copy::Ask() : ask);
  return 0;
}

}  // namespace commands
