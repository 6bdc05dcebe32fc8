// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace shell {

/// Bytes that are kept of each output stream of a command, and of the lines of a search. With more,
/// a result would not fit into a message (render.cc).
inline constexpr std::size_t kOutputLimit = std::size_t{256} * 1024;

/// Bytes of output that one read returns: the least that an agent shows its model (opencode: 50
/// KB).
inline constexpr std::size_t kMaxRead = std::size_t{48} * 1024;

/// The newest bytes of a stream, found by their offset from its beginning. Uses up to an eighth
/// more than `maximum_bytes` of memory. One thread at a time.
class OutputLog {
 public:
  explicit OutputLog(std::size_t maximum_bytes) : maximum_(maximum_bytes) {}

  void Add(std::string_view bytes);

  /// No more bytes come.
  void Finish() { finished_ = true; }

  /// How far Read can read now: it does not return the beginning of a UTF-8 character whose rest
  /// may still come.
  [[nodiscard]] std::uint64_t readable() const;

  struct Piece {
    std::string text = {};        ///< as the bytes came
    std::uint64_t end = 0;        ///< the offset behind it
    std::uint64_t dropped = 0;    ///< bytes from `offset` on that are not kept any more
    std::uint64_t remaining = 0;  ///< bytes behind it that can be read at once
  };

  /// Up to `maximum` bytes from `offset` on, cut between two UTF-8 characters; 0 only sets where
  /// the next read begins. `peeks`: does not count as the last read.
  Piece Read(std::uint64_t offset, std::size_t maximum = kMaxRead, bool peeks = false);

  /// The offset that a reader means: none is where the last read ended; a negative one is that many
  /// bytes before the end, but not before the first byte that is kept.
  [[nodiscard]] std::uint64_t Resolve(std::optional<std::int64_t> offset) const;

 private:
  [[nodiscard]] std::uint64_t begin() const { return total_ - kept_.size(); }
  /// The next offset that is not in the middle of a UTF-8 character.
  [[nodiscard]] std::uint64_t CharacterFrom(std::uint64_t offset) const;

  std::size_t maximum_;
  std::uint64_t total_ = 0;  ///< the bytes received so far, kept or not
  std::uint64_t next_read_ = 0;
  std::string kept_;
  bool finished_ = false;
};

/// The output of the last commands whose results were cut. Thread-safe.
class CutOutputs {
 public:
  static constexpr std::size_t kMaxKept = 4;
  /// Bytes of one command.
  static constexpr std::size_t kMaxOutput = std::size_t{8} << 20;

  /// Returns its id: "c1", "c2", …
  std::string Keep(OutputLog output);

  /// `offset` is that of OutputLog::Resolve. Throws support::Error for an id that is unknown or
  /// forgotten.
  OutputLog::Piece Read(std::string_view id, std::optional<std::int64_t> offset,
                        std::size_t maximum = kMaxRead);

 private:
  struct Entry {
    std::string id;
    OutputLog output;
  };

  std::mutex mutex_;  // of what follows
  std::deque<Entry> entries_;
  std::uint64_t last_id_ = 0;
};

}  // namespace shell
