#include "peer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include "fake_tools.h"

namespace transcripts {
namespace {

constexpr std::chrono::milliseconds kTimeout = std::chrono::minutes(1);

}  // namespace

Peer::Peer(const std::function<void(mcp::ServerOptions&)>& change, Output output)
    : reader_(from_server_.read_end.get()) {
  std::signal(SIGPIPE, SIG_IGN);  // a server that has exited is an error of write()
  mcp::ServerOptions options = FakeServerOptions(heartbeat_);
  if (change) change(options);
  server_ = std::make_unique<mcp::Server>(options, MakeFakeTools(heartbeat_),
                                          to_server_.read_end.get(), from_server_.write_end.get());
  heartbeat_.SetBeat([this] { server_->SendProgress(); });
  exit_ = std::async(std::launch::async, [this, output] {
    const mcp::Server::Exit exit = server_->Serve();
    if (output == Output::kClosedAtExit) from_server_.write_end.Close();
    return exit;
  });
}

Peer::~Peer() {
  server_->Stop(support::StopReason::kTerminated);
  if (exit_.valid()) exit_.wait();
}

void Peer::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to_server_.write_end.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "write to the server");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Peer::WaitForOutput() {
  pollfd ready = {.fd = from_server_.read_end.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, static_cast<int>(kTimeout.count())) == 0) {
    throw std::runtime_error("no line from the server in time");
  }
}

std::optional<std::string> Peer::ReadLine() {
  std::string line;
  while (true) {
    const mcp::LineReader::Result result = reader_.Next(line);
    if (result == mcp::LineReader::Result::kLine) return line;
    if (result == mcp::LineReader::Result::kEndOfInput) return std::nullopt;
    WaitForOutput();
    reader_.Fill();
  }
}

mcp::Server::Exit Peer::Exit() {
  return exit_.get();
}

}  // namespace transcripts
