#include "doctor/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <system_error>

#include "support/errors.h"
#include "testing/no_more_descriptors.h"

namespace doctor {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class ChildTest : public ::testing::Test {
 protected:
  ChildTest() { ::signal(SIGPIPE, SIG_IGN); }

  static std::vector<std::string> Shell(const std::string& script) { return {"sh", "-c", script}; }

  const support::Context ample = support::Context().WithTimeout(std::chrono::seconds(60));
};

TEST_F(ChildTest, IsSpokenToLineByLine) {
  Child child(Shell("while read line; do echo \"<$line>\"; done"));
  EXPECT_TRUE(child.Write("one\ntwo\n", ample));
  EXPECT_EQ(child.ReadLine(ample), "<one>");
  EXPECT_EQ(child.ReadLine(ample), "<two>");
  EXPECT_TRUE(child.Write("three\n", ample));
  EXPECT_EQ(child.ReadLine(ample), "<three>");
  EXPECT_EQ(child.Finish(ample), 0);
}

TEST_F(ChildTest, TellsTheEndOfTheOutput) {
  Child child(Shell("echo last"));
  EXPECT_EQ(child.ReadLine(ample), "last");
  EXPECT_EQ(child.ReadLine(ample), std::nullopt);
}

TEST_F(ChildTest, TellsHowItEnded) {
  EXPECT_EQ(Child(Shell("exit 3")).Finish(ample), 3);
  EXPECT_EQ(Child(Shell("kill -KILL $$")).Finish(ample), 128 + SIGKILL);
}

TEST_F(ChildTest, HasNoExitStatusWhereNobodyKeepsOne) {
  ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(Child(Shell("exit 3")).Finish(ample), 0);
  ::signal(SIGCHLD, SIG_DFL);
}

TEST_F(ChildTest, KeepsTheLastWordsOnOneLine) {
  Child child(Shell("echo one >&2; echo two >&2"));
  child.Finish(ample);
  EXPECT_EQ(child.LastWords(), "one two");
}

TEST_F(ChildTest, KeepsOnlySoMuchOfThem) {
  Child child(Shell("yes | head -c 100000 >&2; printf end >&2"));
  child.Finish(ample);
  EXPECT_EQ(child.LastWords().size(), kKeptErrorText);
  EXPECT_THAT(child.LastWords(), EndsWith("end"));
}

TEST_F(ChildTest, IsNotWaitedForBeyondTheDeadline) {
  Child child(Shell("exec sleep 1000"));
  const auto soon = support::Context().WithTimeout(std::chrono::milliseconds(20));
  EXPECT_THROW(child.ReadLine(soon), support::Stopped);
  EXPECT_THROW(child.Finish(soon), support::Stopped);
}

TEST_F(ChildTest, IsNotWrittenToBeyondTheDeadline) {
  Child child(Shell("exec sleep 1000"));
  const std::string more_than_a_pipe_takes(std::size_t{1} << 22, 'x');
  const auto soon = support::Context().WithTimeout(std::chrono::milliseconds(20));
  EXPECT_THROW((void)child.Write(more_than_a_pipe_takes, soon), support::Stopped);
}

TEST_F(ChildTest, LineWithoutEndIsRefused) {
  Child child(Shell("yes | tr -d '\\n'"));
  try {
    child.ReadLine(ample);
    FAIL();
  } catch (const support::CallError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no line end"));
  }
}

TEST_F(ChildTest, ThatReadsNoMoreIsNoticed) {
  Child child(Shell("exec <&-; echo closed; exec sleep 1000"));
  EXPECT_EQ(child.ReadLine(ample), "closed");
  EXPECT_FALSE(child.Write("text\n", ample));
}

TEST_F(ChildTest, ThatCannotBeStartedIsNamed) {
  try {
    const Child child({"/no/such/program"});
    FAIL();
  } catch (const support::CallError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/program cannot be started"));
  }
}

TEST_F(ChildTest, CannotBeStartedWhereNoDescriptorIsLeft) {
  const testing_support::NoMoreDescriptors none;
  if (!none.imposed()) GTEST_SKIP() << "this build's sanitizer needs descriptors itself";
  EXPECT_THROW(Child(Shell("exit 0")), std::system_error);
}

}  // namespace
}  // namespace doctor
