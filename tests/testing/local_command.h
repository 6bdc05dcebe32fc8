#pragma once

#include <functional>

#include "guest/guest.h"

namespace testing_support {

/// Runs a command under `/bin/sh -c` in a process group of its own, with the promises of
/// guest::Guest::Run. Where it returns or throws before the process has ended, `abandon` is given
/// the process id (which is the group's too): the caller must kill and reap it some time.
guest::CommandResult RunLocally(const guest::Command& command, guest::OutputSink& sink,
                                const support::Context& context,
                                const std::function<void(int process)>& abandon);

}  // namespace testing_support
