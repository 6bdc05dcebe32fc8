#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "ssh/sftp_operation.h"
#include "unit/ssh/sftp_bytes.h"

namespace ssh {

/// Operations against a server that the test plays.
class SftpOperationFixture : public ::testing::Test {
 protected:
  SftpOperationFixture() {
    client_.Receive(sftp_bytes::Version(), now_);
    TakeOutput();
  }

  void Receive(const std::string& bytes) { client_.Receive(bytes, now_); }

  /// What was sent since the last time.
  std::string TakeOutput() {
    std::string output(client_.output());
    client_.Consumed(output.size(), now_);
    return output;
  }

  static std::string Read(std::uint32_t id, std::uint64_t offset, std::uint32_t length) {
    using namespace sftp_bytes;
    return Packet(5, Number32(id) + String("h") + Number64(offset) + Number32(length));
  }

  template <typename Exception>
  static void ExpectFailure(SftpOperation& operation) {
    ASSERT_TRUE(operation.finished());
    EXPECT_THROW(operation.completion().Wait({}, [](support::StopReason) {}), Exception);
  }

  SftpClient::TimePoint now_{};
  SftpClient client_{std::chrono::seconds(30), now_};
};

}  // namespace ssh
