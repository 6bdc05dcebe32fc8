#pragma once

#include <optional>
#include <string>

#include "guest/guest.h"
#include "support/context.h"

namespace tools {

/// Runs a script of the POSIX shell in the guest: one round trip. Returns its exit status, nothing
/// when the sink asked for the end, or the guest does not tell it: the output may then be short.
///
/// The script must change nothing in the guest: it is run again when the line breaks under it.
///
/// The script travels on standard input, so that it means the same whatever the guest user's login
/// shell is, and may be long. What a login profile prints before it is left out of the output. The
/// script's own standard input is empty. Its processes end, by TERM to their process group, when
/// the context is stopped or the line to the guest is lost.
///
/// Throws support::CallError when the guest cannot run it (no /bin/sh) or a signal ended it, and
/// what guest::Guest::Run throws.
std::optional<int> RunScript(guest::Guest& guest, const std::string& script,
                             guest::OutputSink& sink, const support::Context& context);

}  // namespace tools
