#pragma once

#include <string>
#include <vector>

#include "mcp/lines.h"
#include "support/wake_pipe.h"

namespace mcp {

/// A LineWriter for short lines, and the end of its pipe that a client would read.
class PipedOutput {
 public:
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
  support::WakePipe wake_;
  LineReader reader_{pipe_.read_end.get()};
  LineWriter writer_{pipe_.write_end.get(), wake_};
};

}  // namespace mcp
