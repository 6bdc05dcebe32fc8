#include "peer.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "fake_tools.h"
#include "mcp/server.h"
#include "testing/child_process.h"

namespace transcripts {
namespace {

using testing_support::ChildProcess;
using testing_support::FileDescriptor;

void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "write to the server");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Lines from a pipe, each with a deadline.
class Lines {
 public:
  std::optional<std::string> Read(int fd, std::chrono::milliseconds timeout) {
    while (true) {
      if (const auto newline = buffer_.find('\n'); newline != std::string::npos) {
        std::string line = buffer_.substr(0, newline);
        buffer_.erase(0, newline + 1);
        return line;
      }
      pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, static_cast<int>(timeout.count())) == 0) {
        throw std::runtime_error("no line from the server in time");
      }
      std::array<char, 65536> chunk = {};
      const ssize_t count = ::read(fd, chunk.data(), chunk.size());
      if (count == 0 && buffer_.empty()) return std::nullopt;
      if (count <= 0) throw std::runtime_error("the server's output ends within a line");
      buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  std::string buffer_;
};

struct Pipe {
  Pipe() {
    std::array<int, 2> fds = {};
    if (::pipe(fds.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    read_end = FileDescriptor(fds[0]);
    write_end = FileDescriptor(fds[1]);
  }
  FileDescriptor read_end;
  FileDescriptor write_end;
};

class InProcess : public Peer {
 public:
  InProcess() : server_(FakeServerOptions(heartbeat_), MakeFakeTools(heartbeat_)) {
    thread_ = std::thread([this] {
      server_.Serve(to_server_.read_end.get(), from_server_.write_end.get());
      from_server_.write_end.Close();
    });
  }

  ~InProcess() override {
    server_.Stop(support::StopReason::kTerminated);
    thread_.join();
  }

  void Send(std::string_view bytes) override { WriteAll(to_server_.write_end.get(), bytes); }
  void CloseInput() override { to_server_.write_end.Close(); }
  std::optional<std::string> ReadLine(std::chrono::milliseconds timeout) override {
    return lines_.Read(from_server_.read_end.get(), timeout);
  }

 private:
  Pipe to_server_;
  Pipe from_server_;
  Lines lines_;
  FakeHeartbeat heartbeat_;
  mcp::Server server_;
  std::thread thread_;
};

class OverPipes : public Peer {
 public:
  explicit OverPipes(const std::vector<std::string>& command)
      : process_({.arguments = command, .inherit_standard_error = true}) {}

  void Send(std::string_view bytes) override { WriteAll(process_.standard_input().get(), bytes); }
  void CloseInput() override { process_.standard_input().Close(); }
  std::optional<std::string> ReadLine(std::chrono::milliseconds timeout) override {
    return lines_.Read(process_.standard_output().get(), timeout);
  }

 private:
  ChildProcess process_;
  Lines lines_;
};

}  // namespace

std::unique_ptr<Peer> StartInProcess() {
  return std::make_unique<InProcess>();
}

std::unique_ptr<Peer> StartOverPipes(const std::vector<std::string>& command) {
  return std::make_unique<OverPipes>(command);
}

}  // namespace transcripts
