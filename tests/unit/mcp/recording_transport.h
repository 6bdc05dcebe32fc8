#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mcp/transport.h"

namespace mcp {

/// Keeps what is sent; nothing is received.
class RecordingTransport final : public Transport {
 public:
  Received Receive(std::string&) override { return Received::kEndOfInput; }
  void Send(Line line) override { lines.push_back(std::move(line).Text()); }
  void WaitForRoom() override {}
  void Interrupt() override {}
  void GiveUpWaiting() override {}
  bool Flush(std::chrono::steady_clock::time_point) override { return true; }

  std::vector<std::string> lines;
};

}  // namespace mcp
