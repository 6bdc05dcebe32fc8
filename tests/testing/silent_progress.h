#pragma once

#include "mcp/tool.h"

namespace testing_support {

/// A client that requested no progress.
class SilentProgress final : public mcp::ProgressReporter {
 public:
  void SetStatus(std::string /*text*/) override {}
};

}  // namespace testing_support
