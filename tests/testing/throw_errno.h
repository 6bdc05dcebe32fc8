// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace testing_support {

/// Throws std::system_error with the current errno.
[[noreturn]] inline void ThrowErrno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Throws it if `result`, of a system call, is negative.
inline void ThrowIfFailed(int result, const std::string& what) {
  if (result < 0) ThrowErrno(what);
}

}  // namespace testing_support
