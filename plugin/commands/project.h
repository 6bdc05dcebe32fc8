// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "commands/commands.h"
#include "commands/option_parser.h"
#include "connection/ports.h"
#include "copy/copy.h"
#include "copy/instance.h"
#include "exposure/guest_reach.h"

/// Instances, agents and options, for several commands.
namespace commands {

/// The agent of that name, or of that program; with `can_run`, of those that `run` can start.
/// Throws Error, which lists them.
const agents::Agent& FindAgent(std::string_view word, bool can_run);

/// The reason why the agent cannot work on `project` in the instance, and what to do; empty if it
/// can. `project` is absolute, without links; empty for several projects.
std::string NoteOnInstance(const std::string& instance, const std::string& project);

/// The reach of the instance's guest; empty if Lima's files cannot be used.
exposure::GuestReach ReachOf(const std::string& instance);

/// copy::UseSafeSearchPathOfLima.
void UseSafeSearchPath(const std::string& instance);

/// Throws Error if one of the words is not UTF-8, which settings must be.
void RequireUtf8(const std::vector<std::string>& words);

/// How long an agent waits for a result: longer than a command may run.
std::chrono::seconds CallTimeout(std::chrono::milliseconds command_timeout);

std::vector<std::string> ToolNames();

/// The answer to a question that ends with "[Y/n] " or "[y/N] ". Nothing without a terminal, or at
/// the end of its input.
std::optional<bool> AskUser(const std::string& question, bool by_default);

using copy::Instance;

/// copy::LoadInstance. "agent" is created without mounts: the error for a missing one has the
/// command, and with `offers`, on a terminal, the user is asked.
Instance LoadInstance(const std::string& name, bool offers = false, bool mountless = false);

/// `--project`, `--name` and `--copy-dir`, as far as the command has them. Throws Error.
copy::Choice ReadChoice(const Parsed& parsed);

/// Words of `port` and `--port`. Throws Error.
std::vector<connection::Port> ReadPorts(const std::vector<std::string>& words);

/// What `copy` and `run` want of the copy.
copy::SendOptions ReadSendOptions(const Parsed& parsed);

/// `--max-size` of `diff` and `take`. Throws Error.
std::uint64_t ReadMaxSize(const Parsed& parsed);

}  // namespace commands
