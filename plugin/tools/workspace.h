#pragma once

#include <memory>
#include <string>

#include "guest/guest.h"
#include "support/context.h"
#include "tools/path_rules.h"

namespace tools {

/// What a call works on: a connected guest, and what holds for as long as that connection does.
/// A value; take one per call and keep it to its end.
struct Workspace {
  std::shared_ptr<guest::Guest> guest;
  std::shared_ptr<const PathRules> paths;

  /// The guest user's login shell as Lima would run it ("/bin/bash"); empty where none is known,
  /// and the guest's own "$SHELL" counts.
  std::string shell;
};

/// Where workspaces come from: the connection to one instance.
class WorkspaceSource {
 public:
  virtual ~WorkspaceSource() = default;

  /// The present connection, or a new one when there is none or it has died. Waits for it at most
  /// until the context is stopped or its own deadline for connecting passes. Throws
  /// support::CallError with what to do (`limactl start NAME`) when the instance is stopped, broken
  /// or cannot be reached; the next call tries again. Thread-safe.
  virtual Workspace Acquire(const support::Context& context) = 0;
};

}  // namespace tools
