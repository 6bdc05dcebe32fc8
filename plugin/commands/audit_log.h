#pragma once

#include <cstddef>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "mcp/outcome.h"
#include "support/file_descriptor.h"

/// `serve --audit FILE`: a record of every call, for the user.
namespace commands {

/// Bytes of one string in a record; longer ones are cut.
inline constexpr std::size_t kMaximumAuditText = 512;

/// Bytes of all arguments in one record.
inline constexpr std::size_t kMaximumAuditArguments = std::size_t{16} * 1024;

/// A record as one line of JSON, with its line end:
///   time         when the call was received, RFC 3339 in UTC with milliseconds
///   tool         as the client named it
///   arguments    with strings cut; if still too large, their JSON as one cut string
///   outcome      "succeeded", "failed", "refused" (the tool was not called: it is unknown, its
///                arguments are wrong, too many calls are waiting, the server exits), "cancelled"
///   exit_code    of a command, if it has one
///   error        what the client received, or the error in a command's result
///   duration_ms  whole milliseconds from receipt to end
std::string AuditLine(const mcp::CallRecord& record);

/// Appends a line for each call to a file. Several servers may share the file: each line is one
/// write at the file's end. If the file was moved or removed, the next record creates it again,
/// without following a link.
class AuditLog final : public mcp::CallObserver {
 public:
  /// Creates a missing file for its owner only (0600). Throws support::CallError when it cannot be
  /// opened for appending, also for a FIFO without a reader.
  explicit AuditLog(const std::string& path);

  /// Never fails or delays the call. Logs the first write that fails, and the next that succeeds
  /// with the number of lost records.
  void OnCallEnded(const mcp::CallRecord& record) override;

 private:
  // Both return 0 or errno.
  int Append(const std::string& line);
  int ReopenIfMoved();

  const std::string path_;
  std::mutex mutex_;  // guards what follows, and keeps the lines in order
  support::FileDescriptor file_;
  std::size_t lost_ = 0;
};

}  // namespace commands
