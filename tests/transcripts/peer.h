#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace transcripts {

/// A server to talk to, wherever it runs. One thread at a time.
class Peer {
 public:
  virtual ~Peer() = default;

  virtual void Send(std::string_view bytes) = 0;
  virtual void CloseInput() = 0;

  /// The next line without its end; nothing at the end of output. Throws std::runtime_error when
  /// none comes in time.
  virtual std::optional<std::string> ReadLine(std::chrono::milliseconds timeout) = 0;
};

/// A server with the fake tools in this process.
std::unique_ptr<Peer> StartInProcess();

/// Any server, started as a child process with pipes to it.
std::unique_ptr<Peer> StartOverPipes(const std::vector<std::string>& command);

}  // namespace transcripts
