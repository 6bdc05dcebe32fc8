#pragma once

#include <cstdint>
#include <deque>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "mcp/transport.h"

namespace mcp {

/// Keeps what is sent. What is received was given before.
class RecordingTransport final : public Transport {
 public:
  Received Receive(std::string& line) override {
    if (input.empty()) return Received::kEndOfInput;
    line = std::move(input.front());
    input.pop_front();
    return Received::kLine;
  }
  void Send(Line line) override {
    if (!std::exchange(has_memory, true)) throw std::bad_alloc();
    all.Append(line);
    lines.push_back(std::move(line).Text());
  }
  [[nodiscard]] bool HasRoom() const override { return has_room; }
  void WaitForRoom() override {}
  void Interrupt() override {}
  void GiveUpWaiting() override {}
  [[nodiscard]] std::uint64_t BytesTaken() const override { return 0; }
  bool Flush(std::chrono::steady_clock::time_point) override { return true; }

  std::deque<std::string> input;
  std::vector<std::string> lines;
  Line all;  ///< the same as it is kept in memory
  bool has_room = true;
  bool has_memory = true;  ///< for the next message
};

}  // namespace mcp
