#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "shell/output_log.h"

namespace shell {

/// The output of the last commands whose results were cut. Thread-safe.
class CutOutputs {
 public:
  static constexpr std::size_t kMaxKept = 4;
  /// Bytes of one command.
  static constexpr std::size_t kMaxOutput = std::size_t{8} << 20;

  /// Returns its id: "c1", "c2", …
  std::string Keep(OutputLog output);

  /// `offset` and the piece are those of Processes::Read. Throws support::CallError for an id that
  /// is unknown or forgotten.
  struct Output {
    OutputLog::Piece piece;
    std::uint64_t remaining = 0;
  };
  Output Read(std::string_view id, std::optional<std::int64_t> offset,
              std::size_t maximum = kMaxRead);

 private:
  struct Entry {
    std::string id;
    OutputLog output;
    std::uint64_t next_read = 0;
  };

  std::mutex mutex_;  // of what follows
  std::deque<Entry> entries_;
  std::uint64_t last_id_ = 0;
};

}  // namespace shell
