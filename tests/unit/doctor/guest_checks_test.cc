#include "doctor/guest_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "guest/no_file_server.h"
#include "support/environment.h"
#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_support::LocalGuest;
using testing_support::Operation;

class GuestChecksTest : public ::testing::Test {
 protected:
  /// A login shell that does this before it is one.
  std::string Shell(const std::string& script) {
    const fs::path path = directory.path() / "shell";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\nexec /bin/sh \"$@\"\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  /// What `check` says where a program is this script.
  Finding With(const std::string& program, const std::string& script,
               Finding (*check)(guest::Guest&, const support::Context&)) {
    const fs::path file = directory.path() / program;
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(file, fs::perms::owner_all);
    const std::string path = support::EnvironmentVariable("PATH");
    EXPECT_EQ(::setenv("PATH", (directory.path().string() + ":" + path).c_str(), 1), 0);
    const Finding finding = check(guest, ample);
    EXPECT_EQ(::setenv("PATH", path.c_str(), 1), 0);
    return finding;
  }

  testing_support::TemporaryDirectory directory;
  LocalGuest guest;
  const support::Context ample = support::Context().WithTimeout(std::chrono::seconds(60));
};

TEST_F(GuestChecksTest, SftpThatWorksPasses) {
  EXPECT_EQ(CheckSftp(guest, ample).mark, Mark::kPassed);
}

TEST_F(GuestChecksTest, WhySftpDoesNotWorkIsPassedOn) {
  guest.set_hook([](Operation, const std::string&) { throw guest::NoFileServer("none here"); });
  EXPECT_THROW(CheckSftp(guest, ample), guest::NoFileServer);
}

TEST_F(GuestChecksTest, ShellThatIsSilentPasses) {
  const Finding finding = CheckShell(guest, "/bin/sh", ample);
  EXPECT_EQ(finding.mark, Mark::kPassed) << finding.text;
  EXPECT_EQ(finding.text, "/bin/sh");
}

TEST_F(GuestChecksTest, WhatAShellPrintsIsShownAndCut) {
  const Finding finding = CheckShell(guest, Shell("echo Welcome; yes | head -c 5000 >&2"), ample);
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("Welcome"), ::testing::EndsWith("...")));
  EXPECT_LT(finding.text.size(), 500U);
}

TEST_F(GuestChecksTest, ShellThatFailsIsQuoted) {
  const Finding finding = CheckShell(guest, Shell("echo out of order; exit 5"), ample);
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("exit status 5"), HasSubstr("out of order")));
}

TEST_F(GuestChecksTest, MissingShellFails) {
  EXPECT_EQ(CheckShell(guest, "/no/such/shell", ample).mark, Mark::kFailed);
}

TEST_F(GuestChecksTest, ShellThatNeverComesIsGivenUpAtTheDeadline) {
  const Finding finding =
      CheckShell(guest, Shell("exec sleep 1000"),
                 support::Context().WithTimeout(std::chrono::milliseconds(500)));
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, HasSubstr("timed out"));
}

TEST_F(GuestChecksTest, GitTellsItsVersion) {
  const Finding finding = CheckGit(guest, ample);
  EXPECT_THAT(finding.text, HasSubstr(finding.mark == Mark::kPassed ? "git version " : "no git"));
}

TEST_F(GuestChecksTest, GitThatFailsIsAWarning) {
  const Finding finding = With("git", "exit 1", CheckGit);
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.text, HasSubstr("git --version fails"));
}

TEST_F(GuestChecksTest, FindThatListsPasses) {
  EXPECT_EQ(CheckFind(guest, ample).mark, Mark::kPassed);
}

TEST_F(GuestChecksTest, FindThatListsNothingFails) {
  // It accepts -printf, so that no other way is tried.
  const Finding finding =
      With("find", "case $* in *'-maxdepth 0'*) ;; *) exit 1 ;; esac", CheckFind);
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, HasSubstr("does not list /"));
  EXPECT_THAT(finding.advice, HasSubstr("install findutils anew"));
}

TEST_F(GuestChecksTest, FindThatIsOfNoUseIsAWarning) {
  const Finding finding = With("find", "exit 1", CheckFind);
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.text, HasSubstr("no usable find"));
}

}  // namespace
}  // namespace doctor
