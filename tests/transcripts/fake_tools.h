#pragma once

#include <vector>

#include "fake_heartbeat.h"
#include "mcp/server.h"
#include "mcp/tool.h"

namespace transcripts {

/// Tools that a conversation controls, so that no transcript depends on timing:
///
///   echo           {"text"}: gives it back
///   block          {"name", "deaf"?}: runs until it is released or stopped; a deaf one does not
///                  notice that it was stopped and still gives a result when released
///   await_started  {"name"}: returns once the call to `block` of that name runs
///   await_stopped  {"name"}: returns, with the reason, once that call has been stopped
///   release        {"name"}: ends that call
///   report         {"messages", "seconds_between"}: sets each status, then moves the time
///   fail           {"how"}: "call_error", "timeout", "protocol_error", "exception"
///   bad_bytes      {}: a result that is not UTF-8
///   image          {}: a result with a second content block
///   big            {"bytes"}: a result of that many letters
///   choosy         has an input schema with every keyword there is
///
/// `heartbeat` must outlive the tools.
std::vector<mcp::Tool> MakeFakeTools(FakeHeartbeat& heartbeat);

/// A server with these tools: lima 1.2.3, whose time stands still.
mcp::ServerOptions FakeServerOptions(FakeHeartbeat& heartbeat);

}  // namespace transcripts
