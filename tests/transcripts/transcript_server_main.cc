// A server with the fake tools, for the transcripts over pipes.
#include <unistd.h>

#include "fake_tools.h"
#include "mcp/server.h"

int main() {
  transcripts::FakeScheduler scheduler;
  mcp::Server server(transcripts::FakeServerOptions(scheduler),
                     transcripts::MakeFakeTools(scheduler));
  const mcp::Server::Exit exit = server.Serve(STDIN_FILENO, STDOUT_FILENO);
  return exit.all_calls_ended ? 0 : 1;
}
