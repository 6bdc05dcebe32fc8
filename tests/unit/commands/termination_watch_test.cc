// SPDX-License-Identifier: Apache-2.0
#include "commands/termination_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <optional>

#include "support/file_descriptor.h"
#include "support/pipe.h"
#include "testing/temporary_directory.h"

namespace commands {
namespace {

using support::StopReason;

TEST(TerminationWatch, ReportsATerminationSignal) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    std::promise<StopReason> reported;
    const pid_t parent = TerminationWatch::PrepareProcess();
    const TerminationWatch watch(parent, [&](StopReason reason) { reported.set_value(reason); });
    ASSERT_EQ(::kill(::getpid(), number), 0);
    EXPECT_EQ(reported.get_future().get(), StopReason::kTerminated);
  }
}

/// What a watch reports within 20 s; calls `once_up` while it watches.
std::optional<StopReason> FirstReport(pid_t parent, const std::function<void()>& once_up) {
  std::promise<StopReason> reported;
  auto future = reported.get_future();
  const TerminationWatch watch(parent, [&](StopReason reason) { reported.set_value(reason); });
  once_up();
  if (future.wait_for(std::chrono::seconds(20)) != std::future_status::ready) return std::nullopt;
  return future.get();
}

TEST(TerminationWatch, ReportsASignalFromBeforeTheWatch) {
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t parent = TerminationWatch::PrepareProcess();
    ::kill(::getpid(), SIGTERM);
    const auto reported = FirstReport(parent, [] {});
    ::_exit(reported == StopReason::kTerminated ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(TerminationWatch, MayBeDestroyedWithoutAReport) {
  const pid_t parent = TerminationWatch::PrepareProcess();
  const TerminationWatch watch(parent, [](StopReason) { FAIL() << "nothing happened"; });
}

TEST(TerminationWatch, AClosedPipeIsAnErrorOfWrite) {
  const pid_t parent = TerminationWatch::PrepareProcess();
  const TerminationWatch watch(parent, [](StopReason) {});
  support::Pipe pipe;
  pipe.read_end.Close();
  EXPECT_EQ(::write(pipe.write_end.get(), "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST(TerminationWatch, AFullFileIsAnErrorOfWrite) {
  const pid_t parent = TerminationWatch::PrepareProcess();
  const TerminationWatch watch(parent, [](StopReason) {});
  const testing_support::TemporaryDirectory directory;
  const support::FileDescriptor file(
      ::open((directory.path() / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(file.valid());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit nothing{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &nothing), 0);
  const ssize_t written = ::write(file.get(), "x", 1);
  const int error = errno;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(written, -1);
  EXPECT_EQ(error, EFBIG);
}

/// What the watch reports in a process whose parent exits while it watches, or before: 'p' for the
/// parent's death, 's' for a signal, 'x' for nothing.
char ReportOfAParentsDeath(bool before_there_is_a_watch) {
  const support::Pipe ready;
  const support::Pipe result;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) {
      const pid_t parent = TerminationWatch::PrepareProcess();
      if (before_there_is_a_watch) {
        if (::write(ready.write_end.get(), "r", 1) != 1) ::_exit(1);
        while (::getppid() == parent) ::sched_yield();
      }
      const auto reported = FirstReport(parent, [&] {
        if (!before_there_is_a_watch && ::write(ready.write_end.get(), "r", 1) != 1) ::_exit(1);
      });
      char seen = 'x';
      if (reported) seen = *reported == StopReason::kEndOfInput ? 'p' : 's';
      ::_exit(::write(result.write_end.get(), &seen, 1) == 1 ? 0 : 1);
    }
    char byte = 0;
    ::_exit(::read(ready.read_end.get(), &byte, 1) == 1 ? 0 : 1);
  }
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  char seen = 0;
  EXPECT_EQ(::read(result.read_end.get(), &seen, 1), 1);
  return seen;
}

TEST(TerminationWatch, DeathOfTheParentIsTheEndOfInput) {
  EXPECT_EQ(ReportOfAParentsDeath(false), 'p');
  EXPECT_EQ(ReportOfAParentsDeath(true), 'p');
}

}  // namespace
}  // namespace commands
