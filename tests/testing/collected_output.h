#pragma once

#include <string>
#include <string_view>

#include "shell/process.h"

namespace testing_support {

/// Keeps the output of a command.
class CollectedOutput final : public shell::OutputSink {
 public:
  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    (stream == shell::Stream::kOutput ? output : error) += bytes;
    return true;
  }

  std::string output;
  std::string error;
};

}  // namespace testing_support
