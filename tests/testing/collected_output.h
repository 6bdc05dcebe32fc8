#pragma once

#include <string>
#include <string_view>

#include "shell/resident_shell.h"

namespace testing_support {

/// Keeps all that a command prints.
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
