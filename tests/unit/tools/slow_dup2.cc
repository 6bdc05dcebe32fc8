// To be loaded before a shell (LD_PRELOAD): dup2 onto standard output lasts a while. A shell that
// runs a builtin with a redirection of its output so has another standard output for that long.

#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

extern "C" int dup2(int from, int to) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_dup3, from, to, 0));
  if (to == STDOUT_FILENO) {
    const timespec fifty_milliseconds{0, 50'000'000};
    ::nanosleep(&fifty_milliseconds, nullptr);
  }
  return result;
}
