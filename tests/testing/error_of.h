// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/errors.h"

namespace testing_support {

/// The text of the `Error` that `work` throws, or "no error".
template <typename Error = support::Error, typename Work>
std::string ErrorOf(Work work) {
  try {
    static_cast<void>(work());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace testing_support
