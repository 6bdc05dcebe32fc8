#include "tools/guest_script.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <string>

#include "support/errors.h"
#include "testing/eventually.h"
#include "unit/tools/search_fixture.h"

namespace tools {
namespace {

using guest::OutputStream;
using testing::HasSubstr;

class TextSink : public guest::OutputSink {
 public:
  bool OnOutput(OutputStream stream, std::string_view bytes) override {
    (stream == OutputStream::kStandardOutput ? output : error) += bytes;
    return output.size() < limit;
  }
  std::string output;
  std::string error;
  std::size_t limit = 1 << 20;
};

class GuestScript : public SearchFixture {
 protected:
  std::optional<int> Run(const std::string& script) {
    return RunScript(guest_, script, sink_, context_);
  }

  TextSink sink_;
};

TEST_F(GuestScript, KeepsTheStreamsApartAndGivesTheStatus) {
  EXPECT_EQ(Run("echo out; echo err >&2; exit 7"), 7);
  EXPECT_EQ(sink_.output, "out\n");
  EXPECT_EQ(sink_.error, "err\n");
  EXPECT_EQ(guest_.total(), 1);
}

TEST_F(GuestScript, HasAnEmptyStandardInput) {
  EXPECT_EQ(Run("cat; read line; echo \"status $?\""), 0);
  EXPECT_EQ(sink_.output, "status 1\n");
}

TEST_F(GuestScript, MayBeLong) {
  std::string script;
  for (int i = 0; i < 20'000; ++i) script += "value=" + std::to_string(i) + "\n";
  EXPECT_EQ(Run(script + "echo $value"), 0);
  EXPECT_EQ(sink_.output, "19999\n");
}

TEST_F(GuestScript, LeavesOutWhatAProfilePrints) {
  guest_.setup = "printf 'limactl-mcp-'; echo oops >&2; ";
  EXPECT_EQ(Run("printf 'a\\n\\nb'; printf e >&2"), 0);
  EXPECT_EQ(sink_.output, "a\n\nb");
  EXPECT_EQ(sink_.error, "e");
}

TEST_F(GuestScript, FindsTheMarkWhereverPiecesEnd) {
  /// Hands output on byte by byte.
  class Dribble : public guest::OutputSink {
   public:
    explicit Dribble(guest::OutputSink& sink) : sink_(sink) {}
    bool OnOutput(OutputStream stream, std::string_view bytes) override {
      for (const char& byte : bytes) {
        if (!sink_.OnOutput(stream, {&byte, 1})) return false;
      }
      return true;
    }

   private:
    guest::OutputSink& sink_;
  };
  class DribblingGuest : public GuestWithPrograms {
   public:
    guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                             const support::Context& context) override {
      Dribble dribble(sink);
      return GuestWithPrograms::Run(command, dribble, context);
    }
  };
  DribblingGuest guest;
  guest.setup = "printf 'profile limactl-mcp-limactl-mcp-'; ";
  EXPECT_EQ(RunScript(guest, "echo out", sink_, context_), 0);
  EXPECT_EQ(sink_.output, "out\n");
}

TEST_F(GuestScript, EndsWhenTheSinkHasEnough) {
  sink_.limit = 10;
  EXPECT_EQ(Run("while :; do echo y; done"), std::nullopt);
}

TEST_F(GuestScript, ASignalIsAnError) {
  try {
    Run("trap - TERM; kill -KILL $$");
    FAIL();
  } catch (const support::CallError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ended by signal KILL"));
  }
}

// As with a lost line, or an sshd that refuses to send signals: only standard input ends.
TEST_F(GuestScript, TheEndOfStandardInputAloneEndsItsProcesses) {
  const std::string setsid = FindProgram("setsid");
  if (setsid.empty()) GTEST_SKIP() << "setsid is not installed";
  class OutOfReachOfSignals : public testing_support::LocalGuest {
   public:
    std::string setsid;
    guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                             const support::Context& context) override {
      guest::Command apart = command;
      EXPECT_EQ(apart.command_line, "exec /bin/sh");
      apart.command_line = "exec " + setsid + " -w /bin/sh";
      return LocalGuest::Run(apart, sink, context);
    }
  };
  OutOfReachOfSignals guest;
  guest.setsid = setsid;
  support::StopSource stop;
  class StopAtOutput : public TextSink {
   public:
    explicit StopAtOutput(support::StopSource& source) : source_(source) {}
    bool OnOutput(OutputStream stream, std::string_view bytes) override {
      TextSink::OnOutput(stream, bytes);
      if (output.ends_with('\n')) source_.Stop(support::StopReason::kCancelled);
      return true;
    }

   private:
    support::StopSource& source_;
  };
  StopAtOutput sink(stop);
  EXPECT_THROW(RunScript(guest, "echo $$; sh -c 'while :; do :; done'", sink, stop.context()),
               support::Stopped);
  const pid_t group = std::stoi(sink.output);
  const bool gone = testing_support::Eventually([&] { return kill(-group, 0) != 0; });
  EXPECT_TRUE(gone);
  if (!gone) kill(-group, SIGKILL);
}

}  // namespace
}  // namespace tools
