#include "commands/termination_watch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <future>

namespace commands {
namespace {

using support::StopReason;

TEST(TerminationWatch, ReportsATerminationSignal) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    std::promise<StopReason> reported;
    TerminationWatch::PrepareProcess();
    const TerminationWatch watch([&](StopReason reason) { reported.set_value(reason); });
    ASSERT_EQ(::kill(::getpid(), number), 0);
    EXPECT_EQ(reported.get_future().get(), StopReason::kTerminated);
  }
}

TEST(TerminationWatch, EndsWithoutAnyReport) {
  TerminationWatch::PrepareProcess();
  const TerminationWatch watch([](StopReason) { FAIL() << "nothing happened"; });
}

TEST(TerminationWatch, ClosedPipeIsNoSignal) {
  TerminationWatch::PrepareProcess();
  const TerminationWatch watch([](StopReason) {});
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  ::close(ends[1]);
}

TEST(TerminationWatch, DeathOfTheParentIsTheEndOfInput) {
  std::array<int, 2> ready{};
  std::array<int, 2> result{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  ASSERT_EQ(::pipe(result.data()), 0);
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    if (::fork() == 0) {
      // The grandchild watches; its parent goes away once the watch is up.
      std::promise<StopReason> reported;
      TerminationWatch::PrepareProcess();
      const TerminationWatch watch([&](StopReason reason) { reported.set_value(reason); });
      char seen = 'x';
      if (::write(ready[1], "r", 1) != 1) ::_exit(1);
      auto future = reported.get_future();
      if (future.wait_for(std::chrono::seconds(20)) == std::future_status::ready) {
        seen = future.get() == StopReason::kEndOfInput ? 'p' : 's';
      }
      ::_exit(::write(result[1], &seen, 1) == 1 ? 0 : 1);
    }
    char byte = 0;
    ::_exit(::read(ready[0], &byte, 1) == 1 ? 0 : 1);
  }
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  char seen = 0;
  ASSERT_EQ(::read(result[0], &seen, 1), 1);
  EXPECT_EQ(seen, 'p');
  for (const int fd : {ready[0], ready[1], result[0], result[1]}) ::close(fd);
}

}  // namespace
}  // namespace commands
