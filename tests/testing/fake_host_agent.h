// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "support/file_descriptor.h"
#include "support/pipe.h"

namespace testing_support {

/// A host agent without a virtual machine: sends the same answer to every connection to a Unix
/// socket, in its own thread. Throws std::system_error.
class FakeHostAgent {
 public:
  /// What Lima's own agent answers to GET /v1/info.
  static constexpr const char* kGoodAnswer =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n"
      "{\"sshLocalPort\":60022}";

  FakeHostAgent(const std::filesystem::path& socket, std::string answer);

  /// Sends another answer from now on.
  void SetAnswer(std::string answer);

  FakeHostAgent(FakeHostAgent&&) = delete;
  ~FakeHostAgent();

 private:
  void Serve();

  support::FileDescriptor listener_;
  support::WakePipe stop_;
  std::mutex mutex_;
  std::string answer_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace testing_support
