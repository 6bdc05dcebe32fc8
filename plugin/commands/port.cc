// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "commands/option_parser.h"
#include "commands/project.h"
#include "commands/termination_watch.h"
#include "connection/ports.h"
#include "connection/shared_connection.h"
#include "lima/home.h"
#include "support/errors.h"
#include "support/format.h"

namespace commands {

std::vector<connection::Port> ReadPorts(const std::vector<std::string>& words) {
  std::vector<connection::Port> ports;
  for (const std::string& word : words) {
    const auto port = connection::ParsePort(word);
    if (!port) throw support::Error("{}: give [HOST:]GUEST, with ports from 1 to 65535", word);
    ports.push_back(*port);
  }
  return ports;
}

int Port(const Parsed& parsed) {
  std::vector<std::string> words = parsed.unmatched();
  std::string instance = kAgentInstance;
  if (words.size() > 1 && !connection::ParsePort(words.back())) {
    instance = std::move(words.back());
    words.pop_back();
  }
  if (words.empty()) throw support::Error("name a port of the guest: limactl mcp port 3000");
  const std::vector<connection::Port> ports = ReadPorts(words);
  const auto lima_home = lima::HomeDirectory();
  lima::RequireInstance(lima_home, instance, false);
  const pid_t parent = TerminationWatch::PrepareProcess();
  connection::Ports opened(ports);
  const TerminationWatch watch(parent, [](support::StopReason) { std::_Exit(0); });
  const auto connect = [&] { return connection::ConnectGuestWithRetries(lima_home, instance); };
  opened.Open(connect);
  for (const connection::Port& port : ports)
    std::cout << support::Format("http://localhost:{} -> {}:{}\n", port.host, instance, port.guest);
  std::cout.flush();
  std::cerr << "The page comes from the guest. Your browser counts it as a page of this host.\n";
  opened.Serve(connect, instance);
}

}  // namespace commands
