// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "support/file_descriptor.h"
#include "support/pipe.h"

namespace testing_support {

/// A TCP proxy on the loopback that can hold, silence and reset its connections. Thread-safe.
class TcpProxy {
 public:
  enum class Direction { kToTarget, kFromTarget };

  /// Bytes that one direction of one connection keeps; then the sender must wait.
  static constexpr std::size_t kMaxKept = std::size_t{32} * 1024 * 1024;

  explicit TcpProxy(std::uint16_t target_port);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Lets `bytes` more pass in that direction, on any connection, and holds back the rest.
  void HoldAfter(Direction direction, std::uint64_t bytes);
  [[nodiscard]] bool Holds();
  /// No client is connected any more.
  [[nodiscard]] bool IsAbandoned();
  /// Lets everything pass again.
  void Release();

  /// The present connections pass nothing any more and stay open (half-open TCP). Later ones work.
  void FallSilent();

  /// Closes the present connections with RST.
  void Reset();

 private:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  struct Lane {
    std::string waiting;
    bool ended = false;       ///< the sender sends no more
    bool end_passed = false;  ///< and the receiver knows
  };
  struct Connection {
    support::FileDescriptor client;
    support::FileDescriptor target;
    std::array<Lane, 2> lanes = {};  // by Direction
    bool silent = false;
    bool broken = false;
  };

  void Loop();
  void Accept();
  void Move(Connection& connection);
  static bool MoveLane(Lane& lane, std::uint64_t& budget, int from, int to);

  std::uint16_t target_port_;
  std::uint16_t port_ = 0;
  support::FileDescriptor listener_;
  support::WakePipe wake_;
  std::mutex mutex_;  // of what follows
  bool stopping_ = false;
  std::array<std::uint64_t, 2> budgets_ = {kUnlimited, kUnlimited};
  std::list<Connection> connections_;
  std::thread thread_;
};

}  // namespace testing_support
