#include "tools/warm_shell_script.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "testing/local_guest.h"
#include "testing/temporary_directory.h"
#include "tools/mark.h"

namespace tools {
namespace {

using namespace std::chrono_literals;

/// All output up to the end of the command.
class UntilLast : public guest::OutputSink {
 public:
  explicit UntilLast(std::string last) : last_(std::move(last)) {}

  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    if (stream == guest::OutputStream::kStandardOutput) output += bytes;
    return output.find(last_) == std::string::npos;
  }

  std::string output;

 private:
  std::string last_;
};

// The watcher and the login shell work beside each other, and the login shell finds the watcher's
// descriptors through /proc. What it opens there must not be what the watcher prints into just
// then: the pipe with what the login shell is to run.
TEST(WarmShellScript, RunsTheLineAndNothingElseHoweverSlowTheWatcherIs) {
#ifndef LIMACTL_MCP_SLOW_DUP2
  GTEST_SKIP() << "nothing can be loaded before /bin/sh here";
#else
  const testing_support::TemporaryDirectory home;
  std::ofstream(home.path() / ".bash_profile") << "echo of the profile\n";
  ASSERT_EQ(::setenv("HOME", home.path().c_str(), 1), 0);
  // Blanks and colons in the path of the build would divide it.
  const std::filesystem::path slow = home.path() / "slow_dup2.so";
  std::filesystem::create_symlink(LIMACTL_MCP_SLOW_DUP2, slow);
  ASSERT_EQ(::setenv("LD_PRELOAD", slow.c_str(), 1), 0);
  testing_support::LocalGuest guest;
  const std::string directory = home.path();
  const std::string mark = MakeMark();
  guest::Command command =
      MakeWarmShellScript({.directory = directory, .shell = "/bin/bash", .mark = mark});
  command.standard_input += *WarmShellInput({"echo", "of", "the", "line"}, directory, "refusal");
  UntilLast sink("of the line\n");
  guest.Run(command, sink, support::Context().WithTimeout(20s));
  ASSERT_EQ(::unsetenv("LD_PRELOAD"), 0);
  EXPECT_TRUE(sink.output.starts_with("of the profile\n" + mark + " ")) << sink.output;
  EXPECT_NE(sink.output.find("\nof the line\n"), std::string::npos) << sink.output;
#endif
}

}  // namespace
}  // namespace tools
