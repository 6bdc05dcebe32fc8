#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "guest/guest.h"
#include "tools/marked_stream.h"

namespace tools {

/// Takes the output of a command script (command_script.h): what is the command's own, capped, its
/// process group and its last line. The connection's thread adds while another asks for progress.
class CommandOutput final : public guest::OutputSink {
 public:
  CommandOutput(const std::string& mark, std::size_t maximum_bytes);

  /// False once both streams have ended.
  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override;

  /// The command waits for a channel.
  void OnQueued();

  /// No more output comes: Run has returned or thrown.
  void Finish();

  /// Both parts as valid UTF-8.
  [[nodiscard]] std::string StandardOutput() const;
  [[nodiscard]] std::string StandardError() const;

  [[nodiscard]] std::optional<long> process_group() const;

  /// See MarkedStream.
  [[nodiscard]] bool shell_missing() const;

  /// For a progress notification: what the command printed last, or what is waited for; one line of
  /// valid UTF-8, printable (support::Printable).
  [[nodiscard]] std::string Describe() const;

 private:
  void KeepLastLine(std::string_view bytes);

  mutable std::mutex mutex_;
  MarkedStream standard_output_;
  MarkedStream standard_error_;
  std::string last_line_;
  bool line_ended_ = false;
  bool queued_ = false;
};

}  // namespace tools
