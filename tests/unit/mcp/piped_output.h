#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "mcp/line_reader.h"
#include "mcp/line_writer.h"
#include "support/wake_pipe.h"

namespace mcp {

/// A LineWriter, and the end of its pipe that a client would read.
class PipedOutput {
 public:
  explicit PipedOutput(std::size_t max_pending = LineWriter::kMaxPending)
      : writer_(fds_[1], closed_, max_pending) {}
  ~PipedOutput() {
    for (const int fd : fds_) ::close(fd);
  }
  PipedOutput(const PipedOutput&) = delete;
  PipedOutput& operator=(const PipedOutput&) = delete;

  LineWriter& writer() { return writer_; }

  /// What was written since the last call.
  std::vector<std::string> Lines() {
    writer_.Write("end");
    std::vector<std::string> lines;
    std::string line;
    while (line != "end") {
      if (!line.empty()) lines.push_back(line);
      while (reader_.Next(line) == LineReader::Result::kNeedMore) reader_.Fill();
    }
    return lines;
  }

 private:
  static std::array<int, 2> MakePipe() {
    std::array<int, 2> fds = {-1, -1};
    EXPECT_EQ(::pipe(fds.data()), 0);
    return fds;
  }

  const std::array<int, 2> fds_ = MakePipe();
  support::WakePipe closed_;
  LineReader reader_{fds_[0]};
  LineWriter writer_;
};

}  // namespace mcp
