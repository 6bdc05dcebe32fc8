#pragma once

#include "mcp/tool.h"

namespace testing_support {

/// A client that requested no progress.
class SilentProgress final : public mcp::ProgressReporter {
 public:
  [[nodiscard]] bool requested() const override { return false; }
  void Report(const std::string& /*message*/) override {}
};

}  // namespace testing_support
