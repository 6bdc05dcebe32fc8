#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mcp/lines.h"
#include "support/wake_pipe.h"

namespace mcp {

/// A LineWriter, and the end of its pipe that a client would read.
class PipedOutput {
 public:
  explicit PipedOutput(std::size_t max_pending = LineWriter::kMaxPending)
      : writer_(pipe_.write_end.get(), max_pending) {}

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
  support::Pipe pipe_;
  LineReader reader_{pipe_.read_end.get()};
  LineWriter writer_;
};

}  // namespace mcp
