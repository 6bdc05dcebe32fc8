#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "support/child.h"

namespace support {
namespace {

int ExitCodeOf(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Spawn, FindsTheProgramOnPathAndPassesItsArguments) {
  EXPECT_EQ(ExitCodeOf(Spawn({"sh", "-c", "exit \"$1\"", "sh", "7"}, {})), 7);
}

TEST(Spawn, UsesDevNullForMissingStreams) {
  const char* const script = "read line && exit 1; echo lost && echo lost >&2";
  EXPECT_EQ(ExitCodeOf(Spawn({"sh", "-c", script}, {})), 0);
}

TEST(Spawn, ResetsTheSignalsOfTheChild) {
  for (const auto& [number, name] : {std::pair(SIGPIPE, "PIPE"), std::pair(SIGXFSZ, "XFSZ")}) {
    void (*const before)(int) = ::signal(number, SIG_IGN);
    const std::string script = "kill -" + std::string(name) + " $$; exit 0";
    const pid_t pid = Spawn({"sh", "-c", script}, {});
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << name << ": " << status;
    ::signal(number, before);
  }
}

TEST(Spawn, StartsASessionIfRequested) {
  const std::string script = "[ $(ps -o pgid= -p $$) != " + std::to_string(::getpgrp()) + " ]";
  EXPECT_EQ(ExitCodeOf(Spawn({"sh", "-c", script}, {.own_session = true})), 0);
  EXPECT_EQ(ExitCodeOf(Spawn({"sh", "-c", script}, {})), 1);
}

TEST(Spawn, ThrowsTheErrorOfAMissingProgram) {
  try {
    Spawn({"/no/such/program"}, {});
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  }
}

TEST(Spawn, ThrowsForAnInvalidStream) {
  const SpawnStreams streams = {.output = std::numeric_limits<int>::max()};
  EXPECT_THROW(Spawn({"true"}, streams), std::system_error);
}

}  // namespace
}  // namespace support
