// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "mcp/outcome.h"
#include "support/file_descriptor.h"

/// `serve --audit FILE`: a record of every call, for the user.
namespace commands {

/// Bytes of the content of a file, of an error and of a tool's name; longer ones are cut.
inline constexpr std::size_t kMaxAuditText = 512;

/// One line of JSON, ASCII only, with its line end. `arguments` are as the client gave them, but
/// for the content of files; `outcome` is "started" without `end`. docs/options.md has the members.
std::string AuditLine(const mcp::ObservedCall& call, const mcp::Outcome* end);

/// Appends a line for each call when it ends, and one when it starts if it may change something.
/// Each line is one write: threads and servers may share the file.
class AuditLog {
 public:
  /// Creates a missing file for its owner only (0600). Throws support::Error if it cannot be
  /// opened for appending.
  explicit AuditLog(const std::string& path);

  /// A write that fails is logged.
  void Record(const mcp::ObservedCall& call, const mcp::Outcome* end);

 private:
  const std::string path_;
  const support::FileDescriptor file_;
};

}  // namespace commands
