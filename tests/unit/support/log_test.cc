// SPDX-License-Identifier: Apache-2.0
#include "support/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

#include "support/pipe.h"

namespace support {
namespace {

TEST(Log, AFullPipeDoesNotBlockAndGetsWholeLines) {
  Pipe pipe;
  const FileDescriptor before(::dup(STDERR_FILENO));
  ASSERT_EQ(::dup2(pipe.write_end.get(), STDERR_FILENO), STDERR_FILENO);
  pipe.write_end.Close();
  for (int i = 0; i < 10'000; ++i) LogInfo("text");
  ASSERT_EQ(::dup2(before.get(), STDERR_FILENO), STDERR_FILENO);

  std::string logged;
  std::array<char, 4096> piece{};
  for (ssize_t count = 1; count > 0;) {
    count = ::read(pipe.read_end.get(), piece.data(), piece.size());
    if (count > 0) logged.append(piece.data(), static_cast<std::size_t>(count));
  }
  const std::string line = "limactl-mcp: INFO: text\n";
  ASSERT_FALSE(logged.empty());
  for (std::size_t at = 0; at < logged.size(); at += line.size()) {
    ASSERT_EQ(logged.substr(at, line.size()), line) << at;
  }
}

}  // namespace
}  // namespace support
