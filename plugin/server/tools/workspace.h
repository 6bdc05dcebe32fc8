// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"

namespace mcp {
class ProgressReporter;
}  // namespace mcp

namespace tools {

/// What a call works on: a connected guest, and what is valid as long as that connection is. Take
/// one per call.
struct Workspace {
  std::shared_ptr<guest::Guest> guest;
  std::shared_ptr<const paths::PathRules> paths;

  /// The guest user's login shell as Lima would run it ("/bin/bash"); empty: the guest's "$SHELL".
  std::string shell;

  /// Held as long as the connection is used.
  std::shared_ptr<const void> lock = nullptr;
};

/// The connection to one instance.
class WorkspaceSource {
 public:
  virtual ~WorkspaceSource() = default;

  /// Returns the present connection, or a new one if there is none or it is lost. Reports to
  /// `progress` what it waits for. Throws support::Error with what to do (`limactl start NAME`)
  /// if the instance cannot be reached in time; the next call tries again. Thread-safe.
  virtual Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) = 0;
};

}  // namespace tools
