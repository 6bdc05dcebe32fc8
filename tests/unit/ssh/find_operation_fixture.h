#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "ssh/sftp_operation.h"
#include "support/errors.h"
#include "unit/ssh/sftp_operation_fixture.h"

/// What a test of FindOperation sends and receives.
namespace ssh {

inline constexpr std::uint32_t kDirectory = 0040755;
inline constexpr std::uint32_t kDenied = 3;

class FindOperationTest : public SftpOperationFixture {
 protected:
  template <typename Operation, typename... Arguments>
  std::shared_ptr<Operation> Begin(Arguments... arguments) {
    auto operation = std::make_shared<Operation>(arguments...);
    operation->Begin(client_, now_);
    return operation;
  }

  static std::string Ask(int type, std::uint32_t id, std::string_view argument) {
    return sftp_bytes::Packet(type, sftp_bytes::Number32(id) + sftp_bytes::String(argument));
  }
  static std::string RealPath(std::uint32_t id, std::string_view path) { return Ask(16, id, path); }
  static std::string LStat(std::uint32_t id, std::string_view path) { return Ask(7, id, path); }
  static std::string OpenDirectory(std::uint32_t id) { return Ask(11, id, "/p"); }
  static std::string Open(std::uint32_t id) {
    return sftp_bytes::Packet(3, sftp_bytes::Number32(id) + sftp_bytes::String("/p") +
                                     sftp_bytes::Number32(1) + sftp_bytes::Number32(0));
  }
  static std::string Close(std::uint32_t id) { return Ask(4, id, "h"); }
  static std::string Path(std::uint32_t id, std::string_view path) {
    return sftp_bytes::Names(id, 1, sftp_bytes::Name(path));
  }

  static void ExpectNoFailure(SftpOperation& operation) {
    ASSERT_TRUE(operation.finished());
    EXPECT_NO_THROW(operation.completion().Wait({}, [](support::StopReason) {}));
  }
  static void Cancel(SftpOperation& operation) {
    operation.Finish(std::make_exception_ptr(support::Stopped(support::StopReason::kCancelled)));
  }
};

}  // namespace ssh
