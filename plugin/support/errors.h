#pragma once

#include <stdexcept>
#include <string>

#include "support/context.h"

namespace support {

/// A call failed, and `what()` is a text that an agent can act on: what was wrong, where, what to
/// do. Becomes a tool result with `isError` in exactly one place (mcp/).
class CallError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The line to the guest broke, or never came up, while work was under way.
class ConnectionLost : public CallError {
 public:
  ConnectionLost(const std::string& text, bool may_have_run)
      : CallError(text), may_have_run_(may_have_run) {}

  /// True when the guest may have changed something: the work must then not be repeated, and the
  /// text says "may have run". False when the request cannot have reached the guest, or changes
  /// nothing there: the work may be done once more.
  [[nodiscard]] bool may_have_run() const { return may_have_run_; }

 private:
  bool may_have_run_;
};

/// The call was stopped before it was done: by its deadline, by the client, or because this
/// program ends. See Context.
class Stopped : public CallError {
 public:
  explicit Stopped(StopReason reason) : CallError(Describe(reason)), reason_(reason) {}

  [[nodiscard]] StopReason reason() const { return reason_; }

 private:
  StopReason reason_;
};

}  // namespace support
