#pragma once

#include <string>
#include <string_view>

#include "guest/guest.h"

namespace testing_support {

/// Keeps all that a command prints.
class CollectedOutput final : public guest::OutputSink {
 public:
  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    (stream == guest::OutputStream::kStandardOutput ? output : error) += bytes;
    return true;
  }

  std::string output;
  std::string error;
};

}  // namespace testing_support
