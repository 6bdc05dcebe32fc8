// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agents/agent.h"
#include "commands/audit_log.h"
#include "commands/checkpointer.h"
#include "commands/commands.h"
#include "commands/option_parser.h"
#include "commands/project.h"
#include "commands/serve_options.h"
#include "commands/termination_watch.h"
#include "connection/instance.h"
#include "connection/instance_opener.h"
#include "connection/shared_connection.h"
#include "copy/checkpoints.h"
#include "copy/served_copy.h"
#include "copy/setup.h"
#include "mcp/server.h"
#include "network/proxy.h"
#include "support/environment.h"
#include "support/log.h"
#include "support/version.h"
#include "tools/tool_list.h"

namespace commands {
namespace {

using connection::SharedConnection;

mcp::ServerOptions MakeServerOptions(const ServeOptions& given, const copy::Choice& copied,
                                     SharedConnection& connection) {
  mcp::ServerOptions options;
  options.info = {{"name", "lima"}, {"title", "Lima"}, {"version", support::Version()}};
  options.instructions = [instance = given.instance, copied] {
    const std::string text = connection::Instructions(instance);
    if (copied.project.empty()) return text;
    return text + copy::SetupNote(instance.lima_home / instance.name, copied);
  };
  options.result_format = [style = given.result_style](std::string_view client) {
    return agents::FormatFor(client, style);
  };
  options.on_first_message = [&connection] { connection.ConnectInBackground(); };
  options.is_connecting = [&connection] { return connection.IsConnecting(); };
  return options;
}

}  // namespace

int Serve(const Parsed& parsed) {
  const copy::Choice copied = ReadCopiedProject(parsed);
  const pid_t parent = TerminationWatch::PrepareProcess();
  ServeOptions options = ReadServeOptions(parsed, parsed.Positional(0, kDefaultInstance));
  RequireInstance(options);
  if (!copied.project.empty())
    options.instance.only_root =
        copy::ServedCopy(options.instance.lima_home, options.instance.name, copied);
  options.tools.denials = std::make_shared<network::Denials>(
      options.instance.name, support::EnvironmentVariable(network::kDenialsVariable));
  options.instance.proxy =
      std::make_shared<network::Proxy>(options.instance.lima_home / options.instance.name,
                                       options.instance.name, options.tools.denials);
  if (options.start) UseSafeSearchPath(options.instance.name);

  connection::InstanceOpener opener(options.instance, options.start);
  SharedConnection connection(std::bind_front(&connection::InstanceOpener::Open, &opener));
  mcp::ServerOptions server_options = MakeServerOptions(options, copied, connection);
  std::optional<AuditLog> audit;
  if (options.audit_file) audit.emplace(*options.audit_file);
  std::optional<Checkpointer> checkpoints;
  if (!copied.project.empty())
    checkpoints.emplace(copied.project,
                        [&](const std::string& note, const support::Context& context) {
                          const auto workspace = connection.Current();
                          if (!workspace) return;
                          copy::KeepState(options.instance.lima_home / options.instance.name,
                                          copied, *workspace->guest, note, context);
                        });
  if (audit || checkpoints)
    server_options.observer = [&](const mcp::ObservedCall& call, const mcp::Outcome* end) {
      if (audit) audit->Record(call, end);
      if (checkpoints) checkpoints->Observe(call, end);
    };
  mcp::Server server(server_options, tools::MakeTools(connection, options.tools), STDIN_FILENO,
                     STDOUT_FILENO);
  const TerminationWatch watch(parent,
                               [&server](support::StopReason reason) { server.Stop(reason); });

  const mcp::Server::Exit exit = server.Serve();
  if (!exit.all_calls_ended) {
    // Destructors would wait for that call, perhaps forever.
    support::LogError("a call did not end in time; exiting without it");
    std::_Exit(1);
  }
  return 0;
}

}  // namespace commands
