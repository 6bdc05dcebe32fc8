// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "mcp/outcome.h"
#include "support/file_descriptor.h"

/// `serve --audit FILE`: a record of every call, for the user.
namespace commands {

/// Bytes of the contents of a file in a record, of an error and of a tool's name; longer ones are
/// cut.
inline constexpr std::size_t kMaxAuditText = 512;

/// Bytes of any other argument: its text, or its JSON. Of a longer one the record has the object
/// {"head","tail","bytes","sha256"}: half of this limit from each end, the length and the digest.
inline constexpr std::size_t kMaxAuditArgument = std::size_t{16} * 1024;

/// Bytes of the JSON of all arguments, abridged in the same way. More than a tool accepts.
inline constexpr std::size_t kMaxAuditArguments = std::size_t{1024} * 1024;

/// A record as one line of JSON, ASCII only, with its line end:
///   time         when the call was received, RFC 3339 in UTC with milliseconds
///   pid          of this server: several may share the file
///   number       of the call in this server
///   tool         as the client named it
///   arguments    as the client gave them, shortened
///   outcome      "started" (without `end`), "succeeded", "failed", "refused", "cancelled"
///   exit_code    of a command or process, if it has one
///   error        what the client received, or why a command did not succeed
///   duration_ms  whole milliseconds from receipt to end
std::string AuditLine(const mcp::ObservedCall& call, const mcp::Outcome* end);

/// Appends a line for each call to a file when it ends, and one when it starts if it may change
/// something. Each line is one write at the file's end. If the file was moved or removed, the next
/// record creates it again, without following a link. Never fails or delays a call: logs the first
/// write that fails, and the next that succeeds with the number of lost records.
class AuditLog {
 public:
  /// Creates a missing file for its owner only (0600). Throws support::CommandError when it cannot
  /// be opened for appending, also for a FIFO without a reader.
  explicit AuditLog(const std::string& path);

  void Record(const mcp::ObservedCall& call, const mcp::Outcome* end) noexcept;

 private:
  void ReopenIfMoved();  // throws std::system_error

  const std::string path_;
  std::mutex mutex_;  // guards what follows, and keeps the lines in order
  support::FileDescriptor file_;
  std::size_t lost_ = 0;
};

}  // namespace commands
