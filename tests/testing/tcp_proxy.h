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
#include "support/wake_pipe.h"

namespace testing_support {

/// A TCP line on the loopback that can be disturbed: listens on a free port and forwards each
/// connection to another port of this machine. Its thread ends with the destructor. Thread-safe.
class TcpProxy {
 public:
  enum class Direction { kToTarget, kFromTarget };

  /// Bytes that one direction of one connection keeps at most; beyond it the sender has to wait,
  /// and its end is not seen.
  static constexpr std::size_t kMostKept = std::size_t{32} * 1024 * 1024;

  explicit TcpProxy(std::uint16_t target_port, std::size_t most_kept = kMostKept);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Lets `bytes` more pass in that direction, whatever the connection, and holds back the rest.
  void HoldAfter(Direction direction, std::uint64_t bytes);
  /// Whether something is held back now.
  [[nodiscard]] bool Holds();
  /// Whether no client is connected any more.
  [[nodiscard]] bool IsAbandoned();
  /// Lets everything pass again.
  void Release();

  /// The present connections pass nothing any more and stay open whatever their ends do:
  /// half open TCP. Later ones work.
  void FallSilent();

  /// Ends the present connections with RST.
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
  bool MoveLane(Lane& lane, std::uint64_t& budget, int from, int to) const;

  std::uint16_t target_port_;
  std::size_t most_kept_;
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
