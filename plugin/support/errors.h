// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "support/context.h"
#include "support/format.h"

namespace support {

/// What a person or an agent can act on. `what()` says what failed, why, and what to do. In a tool
/// call it becomes a result with `isError`, in one place (mcp/); a command prints it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  template <typename First, typename... Rest>
  explicit Error(FormatText<1 + sizeof...(Rest)> text, const First& first, const Rest&... rest)
      : std::runtime_error(Format(text, first, rest...)) {}
};

/// The connection to the guest was lost, or could not be opened.
class ConnectionLost : public Error {
 public:
  ConnectionLost(const std::string& text, bool may_have_run)
      : Error(text), may_have_run_(may_have_run) {}

  /// True if the guest may have changed something: do not retry; the message has "may have run".
  /// False if the request did not reach the guest or changes nothing there.
  [[nodiscard]] bool may_have_run() const { return may_have_run_; }

 private:
  bool may_have_run_;
};

/// The call was stopped by its deadline, by the client, or because this program exits. See Context.
class Stopped : public Error {
 public:
  explicit Stopped(StopReason reason) : Error(Describe(reason)), reason_(reason) {}

  [[nodiscard]] StopReason reason() const { return reason_; }

 private:
  StopReason reason_;
};

}  // namespace support
