#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "mcp/transport.h"

namespace mcp {

/// Receives `input` and records what is sent.
class RecordingTransport final : public Transport {
 public:
  Received Receive(std::string& line) override {
    if (input.empty()) return Received::kEndOfInput;
    line = std::move(input.front());
    input.pop_front();
    return Received::kLine;
  }
  void Send(Line line) override { lines.push_back(std::move(line).Text()); }
  [[nodiscard]] bool HasRoom() const override { return has_room; }
  void WaitForRoom() override {}
  void GiveUpWaiting() override {}
  void Interrupt() override {}
  bool Flush(std::chrono::milliseconds) override { return true; }

  std::deque<std::string> input;
  std::vector<std::string> lines;
  bool has_room = true;
};

}  // namespace mcp
