// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/file_descriptor.h"

/// A network of this process's own, in which names and "public" servers can be played.
namespace testing_support {

/// A public address, in no documentation range: that of this process in its private network.
inline constexpr const char* kPublicAddress = "93.184.215.14";

/// Gives this process and its later children a network of their own with the loopback and
/// kPublicAddress, and a resolver that reads `directory`/hosts and then asks 127.0.0.1. Returns the
/// problem; empty: done. Before any thread is started.
std::string EnterPrivateNetwork(const std::filesystem::path& directory);

/// A TCP server at all addresses that answers "answer\n" to the first bytes, and "N bytes\n" to the
/// end of input. Thread-safe.
class RecordingServer {
 public:
  explicit RecordingServer(std::uint16_t port);
  ~RecordingServer();
  RecordingServer(const RecordingServer&) = delete;
  RecordingServer& operator=(const RecordingServer&) = delete;

  /// What came over each connection so far.
  [[nodiscard]] std::vector<std::string> Received() const;

 private:
  void Accept();
  void Serve(int fd, std::size_t index);

  mutable std::mutex mutex_;
  std::vector<std::string> received_;
  support::FileDescriptor listener_;
  std::thread thread_;
};

/// Answers each query with "no such name", and records the name. Thread-safe.
class RecordingNameServer {
 public:
  RecordingNameServer();
  ~RecordingNameServer();
  RecordingNameServer(const RecordingNameServer&) = delete;
  RecordingNameServer& operator=(const RecordingNameServer&) = delete;

  /// How often a name was asked for.
  [[nodiscard]] std::map<std::string, int> Queries() const;

 private:
  void Serve();

  mutable std::mutex mutex_;
  std::map<std::string, int> queries_;
  support::FileDescriptor socket_;
  std::thread thread_;
};

}  // namespace testing_support
