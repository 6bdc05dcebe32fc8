// SPDX-License-Identifier: Apache-2.0
#include "support/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "support/errors.h"
#include "support/pipe.h"

namespace support {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

class ChildTest : public ::testing::Test {
 protected:
  ChildTest() { ::signal(SIGPIPE, SIG_IGN); }

  static std::vector<std::string> Shell(const std::string& script) { return {"sh", "-c", script}; }

  const Context ample = Context().WithTimeout(std::chrono::seconds(60));
};

TEST_F(ChildTest, ExchangesLines) {
  Child child(Shell("while read line; do echo \"<$line>\"; done"));
  child.Write("one\ntwo\n");
  EXPECT_EQ(child.ReadLine(ample), "<one>");
  EXPECT_EQ(child.ReadLine(ample), "<two>");
  child.Write("three\n");
  EXPECT_EQ(child.ReadLine(ample), "<three>");
  child.CloseInput();
  EXPECT_EQ(child.ReadLine(ample), std::nullopt);
  child.Write("to a program that has exited\n");
  EXPECT_EQ(child.Finish(ample), 0);
}

TEST_F(ChildTest, ReturnsTheExitCode) {
  EXPECT_EQ(Child(Shell("exit 3")).Finish(ample), 3);
  EXPECT_EQ(Child(Shell("kill -KILL $$")).Finish(ample), 128 + SIGKILL);
  ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(Child(Shell("exit 3")).Finish(ample), 0) << "there is no status";
  ::signal(SIGCHLD, SIG_DFL);
}

TEST_F(ChildTest, KeepsTheEndOfStandardError) {
  Child child(Shell("yes no | head -c 100000 >&2; echo >&2; echo one >&2; echo two >&2"));
  child.Finish(ample);
  EXPECT_THAT(child.error(), ::testing::EndsWith("\none\ntwo\n"));
  EXPECT_EQ(child.error().size(), 65536U);
}

TEST_F(ChildTest, WritesToAProgramThatPrintsMuch) {
  const std::string text(1 << 20, 'x');
  Child child(Shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; exec cat"));
  EXPECT_TRUE(child.Write(text, ample));
  child.CloseInput();
  std::string output;
  child.Read(
      [&](std::string_view bytes) {
        output += bytes;
        return true;
      },
      ample);
  EXPECT_EQ(output, std::string(1000000, '\0') + text);
  EXPECT_FALSE(Child(Shell("exec <&-")).Write(text, ample));
}

TEST_F(ChildTest, UsesTheStreamsAndVariablesOfTheCaller) {
  Pipe pipe;
  Child printer(Shell("echo $NAME"), {.output = pipe.write_end.get()}, {{"NAME", "value"}});
  pipe.write_end.Close();
  Child reader({"cat"}, {.input = pipe.read_end.get(), .output = Child::kPipe});
  EXPECT_EQ(printer.Finish(ample), 0);
  EXPECT_EQ(reader.ReadLine(ample), "value");
}

TEST_F(ChildTest, WaitsNoLongerThanTheDeadline) {
  for (const char* script : {"exec sleep 1000", "exec >&-; exec sleep 1000"}) {
    Child child(Shell(script));
    const auto soon = Context().WithTimeout(std::chrono::milliseconds(20));
    EXPECT_THROW(child.Finish(soon), Stopped);
  }
}

TEST_F(ChildTest, NamesAProgramThatCannotBeStarted) {
  EXPECT_THAT([] { Child({"/no/such/program"}); },
              ::testing::ThrowsMessage<Error>(HasSubstr("/no/such/program cannot be started")));
}

int ExitCodeOf(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Spawn, FindsTheProgramOnPathAndUsesDevNullForMissingStreams) {
  EXPECT_EQ(ExitCodeOf(Spawn({"sh", "-c", "exit \"$1\"", "sh", "7"}, {})), 7);
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

TEST(Spawn, ThrowsTheErrorOfAMissingProgramOrAnInvalidStream) {
  EXPECT_THAT([] { Spawn({"/no/such/program"}, {}); },
              Throws<std::system_error>(
                  Property(&std::system_error::code, std::errc::no_such_file_or_directory)));
  const SpawnStreams streams = {.output = std::numeric_limits<int>::max()};
  EXPECT_THROW(Spawn({"true"}, streams), std::system_error);
}

}  // namespace
}  // namespace support
