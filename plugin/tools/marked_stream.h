#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/capped_output.h"

namespace tools {

/// Finds in one stream of a command script (command_script.h) what is the command's own: keeps it,
/// capped, and knows where it ended. The mark may be cut anywhere by the borders of pieces. One
/// thread at a time.
class MarkedStream {
 public:
  enum class Header {
    kExpected,  ///< a line "MARK PID" or "MARK PID no-shell" comes first (standard output)
    kNone,      ///< standard error
  };
  MarkedStream(std::string mark, Header header, std::size_t maximum_bytes);

  /// Returns the part of the stream that has turned out to be the command's own with these bytes;
  /// valid until the next call.
  std::string_view Add(std::string_view bytes);

  /// The channel was closed: what was held back as a possible beginning of the mark is output.
  void Finish();

  /// True once the mark has come: nothing that comes later is the command's.
  [[nodiscard]] bool ended() const { return state_ == State::kEnded; }

  /// The process group of the command, once the header has come.
  [[nodiscard]] std::optional<long> process_group() const { return process_group_; }

  /// True when the header says that the guest does not have the shell that is to run the command.
  [[nodiscard]] bool shell_missing() const { return shell_missing_; }

  [[nodiscard]] const CappedOutput& output() const { return output_; }

 private:
  enum class State { kBeforeHeader, kInHeader, kOutput, kEnded };
  void Scan(std::string_view bytes);
  void Keep(std::string_view bytes);

  std::string mark_;
  State state_;
  std::string held_;  ///< the beginning of a mark perhaps, or of the header's rest
  std::string own_;
  std::optional<long> process_group_;
  bool shell_missing_ = false;
  CappedOutput output_;
};

}  // namespace tools
