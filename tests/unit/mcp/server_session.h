#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "peer.h"

namespace mcp {

inline constexpr std::size_t kMiB = std::size_t{1024} * 1024;

/// A server with the fake tools, and a client of it.
class Session : public transcripts::Peer {
 public:
  using Peer::Peer;

  void Call(int id, const std::string& tool, const nlohmann::json& arguments) {
    Send(nlohmann::json{{"jsonrpc", "2.0"},
                        {"id", id},
                        {"method", "tools/call"},
                        {"params", {{"name", tool}, {"arguments", arguments}}}}
             .dump() +
         "\n");
  }

  void Initialize() {
    Send("{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\"}\n");
    EXPECT_TRUE(Read().contains("result"));
  }

  void ExpectPingIsAnswered() {
    Send("{\"jsonrpc\":\"2.0\",\"id\":\"ping\",\"method\":\"ping\"}\n");
    EXPECT_EQ(Read()["id"], "ping");
  }

  /// The next message; null at the end of output.
  nlohmann::json Read() {
    const auto line = ReadLine();
    return line ? nlohmann::json::parse(*line) : nlohmann::json();
  }

  std::vector<nlohmann::json> ReadToTheEnd() {
    std::vector<nlohmann::json> messages;
    for (nlohmann::json message = Read(); !message.is_null(); message = Read())
      messages.push_back(message);
    return messages;
  }
};

}  // namespace mcp
