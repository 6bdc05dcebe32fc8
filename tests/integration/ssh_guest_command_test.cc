// Processes, scripts and commands over ssh::Connect, and the channels that they take.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "integration/ssh_guest_fixture.h"
#include "testing/guest_processes.h"

namespace ssh_guest {
namespace {

using testing_support::EndsSoon;

TEST_F(SshGuest, RunsAScriptAndACommand) {
  const auto guest = Connect();
  const std::string line = "echo out; echo err >&2; exit 7";
  for (const bool is_script : {true, false, true, false}) {
    CollectedOutput sink;
    const shell::RunEnd end = Run(is_script, *guest, line, sink, minute_);
    EXPECT_EQ(end.exit_status, 7);
    EXPECT_EQ(sink.output, "out\n");
    EXPECT_EQ(sink.error, "err\n");
  }
}

TEST_F(SshGuest, AProcessReportsItsStatusOrSignal) {
  const auto guest = Connect();
  const auto end_of = [&](const std::string& line) {
    const auto recorded = std::make_shared<RecordedProcess>();
    const auto process = guest->Start(line, recorded);
    return recorded->End();
  };
  EXPECT_EQ(end_of("exit 3").exit_status, 3);
  const shell::ProcessEnd killed = end_of("kill -KILL $$");
  EXPECT_EQ(killed.exit_signal, "KILL");
  EXPECT_EQ(killed.exit_status, std::nullopt);
  EXPECT_TRUE(killed.was_started);
}

TEST_F(SshGuest, AProcessIsSentMoreThanTheWindowHolds) {
  const auto guest = Connect();
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("cat", recorded);
  const std::string bytes = Pattern(5'000'000);
  process->Send(bytes.substr(0, 4'000'000));
  process->Send(bytes.substr(4'000'000));
  process->EndInput();
  EXPECT_EQ(recorded->End().exit_status, 0);
  EXPECT_TRUE(recorded->output() == bytes);
}

TEST_F(SshGuest, AProcessNeedNotReadItsInput) {
  const auto guest = Connect();
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("head -c 1; exit 3", recorded);
  process->Send(Pattern(20'000'000));
  EXPECT_EQ(recorded->End().exit_status, 3);
}

TEST_F(SshGuest, InputThatIsNotReadCostsNoTime) {
  const auto guest = Connect();
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("echo; exec sleep 100", recorded);
  process->Send(Pattern(20'000'000));
  ASSERT_TRUE(Eventually([&] { return !recorded->output().empty(); }));
  CollectedOutput sink;
  const auto used = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  guest->shells().RunScript({"true"}, sink, minute_);
  const auto before = used();
  guest->shells().RunScript({"sleep 2"}, sink, minute_);
  EXPECT_LT(used() - before, 500ms);
}

TEST_F(SshGuest, TakesLongScriptsAndCommands) {
  const auto guest = Connect();
  const std::string line = "x=" + std::string(300'000, 'x') + "; echo ${#x}";
  CollectedOutput sink;
  EXPECT_EQ(guest->shells().RunScript({line}, sink, minute_).exit_status, 0);
  EXPECT_EQ(Command(*guest, line, sink, minute_).exit_status, 0);
  EXPECT_EQ(sink.output, "300000\n300000\n");
}

TEST_F(SshGuest, EndsWhenTheSinkWantsNoMore) {
  const auto guest = Connect();
  for (const bool is_script : {true, false}) {
    int pieces = 0;
    shell::FunctionSink sink([&](shell::Stream, std::string_view) { return ++pieces < 1; });
    const std::string line = "echo $$ >" + Path("pid") + "; exec yes";
    const shell::RunEnd end = Run(is_script, *guest, line, sink, minute_);
    EXPECT_EQ(pieces, 1);
    EXPECT_EQ(end.exit_status, std::nullopt);
    EXPECT_TRUE(EndsSoon(Path("pid")));
  }
}

TEST_F(SshGuest, IdleShellsAreClosedForSftp) {
  StartInstance({"MaxSessions 2"});
  const auto guest = Connect();
  CollectedOutput sink;
  EXPECT_EQ(guest->shells().RunScript({"echo"}, sink, minute_).exit_status, 0);
  EXPECT_EQ(Command(*guest, "echo", sink, minute_).exit_status, 0);
  EXPECT_NO_THROW(guest->LStat("/", minute_));
}

}  // namespace
}  // namespace ssh_guest
