#pragma once

#include <sys/resource.h>

#include "testing/sanitizers.h"

namespace testing_support {

/// As long as it lives, this process can open nothing further.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    if (kAddressSanitizer || ::getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
    rlimit none = before_;
    none.rlim_cur = 0;
    imposed_ = ::setrlimit(RLIMIT_NOFILE, &none) == 0;
  }
  ~NoMoreDescriptors() {
    if (imposed_) ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

  /// False with AddressSanitizer: UndefinedBehaviorSanitizer, which it is built with, looks at
  /// memory by way of a pipe, and takes every exception for a broken one where it gets none.
  [[nodiscard]] bool imposed() const { return imposed_; }

 private:
  rlimit before_{};
  bool imposed_ = false;
};

}  // namespace testing_support
