#pragma once

#include <pthread.h>

#include <cstddef>
#include <limits>

namespace testing_support {

/// As long as it lives, this process gets no further threads: each would have a stack for which no
/// machine has room. Holds for root too, whom a limit of processes does not bind.
class NoMoreThreads {
 public:
#ifdef __GLIBC__
  NoMoreThreads() {
    pthread_attr_t huge{};
    if (::pthread_getattr_default_np(&before_) != 0) return;
    if (::pthread_getattr_default_np(&huge) != 0) return;
    constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max() / 4;
    imposed_ =
        ::pthread_attr_setstacksize(&huge, kHuge) == 0 && ::pthread_setattr_default_np(&huge) == 0;
    ::pthread_attr_destroy(&huge);
  }
  ~NoMoreThreads() {
    if (!imposed_) return;
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
#else
  NoMoreThreads() {}  // NOLINT(modernize-use-equals-default): keeps an instance from being unused
#endif
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

  /// False where the system's library has no such setting (only glibc has).
  [[nodiscard]] bool imposed() const {
    return imposed_;
  }

 private:
#ifdef __GLIBC__
  pthread_attr_t before_{};
#endif
  bool imposed_ = false;
};

}  // namespace testing_support
