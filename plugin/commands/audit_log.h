#pragma once

#include <cstddef>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "mcp/outcome.h"
#include "support/file_descriptor.h"

/// `serve --audit FILE`: a record of every call, for a user who does not look at each of them.
namespace commands {

/// Bytes of one text in a record (a path, a word of a command, the content of a file); what is
/// longer is cut, with a word on how much was left out.
inline constexpr std::size_t kMaximumAuditText = 512;

/// Bytes of all arguments in one record, about; the elements beyond are counted, not shown.
inline constexpr std::size_t kMaximumAuditArguments = std::size_t{16} * 1024;

/// Arrays and objects nested deeper are not shown. Arguments that satisfy a schema are two deep.
inline constexpr int kMaximumAuditDepth = 8;

/// The arguments as a record shows them, within the limits above.
nlohmann::json ShortenArguments(const nlohmann::json& arguments);

/// A record as one line of JSON, with its line end:
///   time         when the call came, RFC 3339 in UTC with milliseconds
///   tool         as the client named it
///   arguments    see ShortenArguments
///   outcome      "succeeded", "failed", "refused" (the tool was not called: it is unknown, its
///                arguments are wrong, too many calls are waiting, no thread is to be had, the
///                server ends), "cancelled"
///   exit_code    of a command, where it has one
///   error        what the client was told, or of a command what its result says
///   duration_ms  whole milliseconds from its receipt to its end
std::string AuditLine(const mcp::CallRecord& record);

/// Appends a line for each call to a file. Several servers may share the file: each line is one
/// write at the file's end. What a server has left half written there, on a full disk, does not
/// spoil the first record of the next server, nor the first that can be written again. Where the
/// file was moved away or removed, as logs are when they are rotated, the next record makes it
/// anew; a link that has come into its place is not followed.
class AuditLog final : public mcp::CallObserver {
 public:
  /// Makes the file, for its owner only (0600), where it is missing. Throws support::CallError when
  /// it cannot be opened for appending, also for a FIFO that nobody reads.
  explicit AuditLog(const std::string& path);

  /// Never stops the call: a write that fails is reported on standard error, and so is the first
  /// one that works again, with the number of the records lost in between. Nothing is ever waited
  /// for.
  void OnCallEnded(const mcp::CallRecord& record) override;

 private:
  void Append(std::string line);
  void Use(support::FileDescriptor file);
  void FollowMovedFile();

  const std::string path_;
  std::mutex mutex_;  // guards what follows, and keeps the lines of this process in order
  support::FileDescriptor file_;
  bool told_of_move_ = false;
  std::size_t lost_ = 0;
  bool line_is_open_ = false;  // a write was cut short: the next line must not join what it left
};

}  // namespace commands
