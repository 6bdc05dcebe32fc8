// A command that is started ahead of its need: what uses it, and what ends it.

#include <gmock/gmock.h>
#include <signal.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "integration/ssh_guest_fixture.h"

namespace ssh_guest {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

class SpareCommand : public SshGuest {
 protected:
  /// What `script` prints; it is run in a shell that is wanted again.
  std::string Script(guest::Guest& guest, const std::string& script) {
    CollectedOutput sink;
    EXPECT_EQ(guest.Run(WithInput(script + "; exit 0\n"), sink, minute_).exit_status, 0) << script;
    return sink.output;
  }

  /// The command of that shell.
  [[nodiscard]] guest::Command WithInput(const std::string& input) const {
    guest::Command command;
    command.command_line = line_;
    command.standard_input = input;
    command.hold_standard_input_open = true;
    command.changes_nothing = true;
    command.may_be_started_ahead = true;
    return command;
  }

  [[nodiscard]] std::vector<pid_t> Commands() const {
    return ChildrenOf(instance_->SessionPids().back());
  }

  /// The shell that waits, and nothing but it is in the guest.
  [[nodiscard]] std::string WaitingShell() const {
    std::vector<pid_t> commands;
    EXPECT_TRUE(Eventually([&] { return (commands = Commands()).size() == 1; }));
    return commands.empty() ? "" : std::to_string(commands.front()) + "\n";
  }

  std::string line_ = "exec /bin/sh";
};

TEST_F(SpareCommand, TheNextScriptRunsInTheShellThatWaits) {
  StartInstance();
  const auto guest = Connect();
  std::string ran = Script(*guest, "echo $$");
  for (int i = 0; i < 3; ++i) {
    const std::string waits = WaitingShell();
    EXPECT_NE(waits, ran);
    ran = Script(*guest, "echo $$");
    EXPECT_EQ(ran, waits);
  }
}

TEST_F(SpareCommand, IsNotOlderThanACommandThatMayHaveChangedTheGuest) {
  StartInstance();
  const auto guest = Connect();
  Script(*guest, "echo $$");
  const std::string waited = WaitingShell();
  CollectedOutput sink;
  Run(*guest, "true", sink, minute_);
  EXPECT_NE(Script(*guest, "echo $$"), waited);
  EXPECT_TRUE(Eventually([&] { return ::kill(std::stoi(waited), 0) != 0; }));
}

TEST_F(SpareCommand, IsStartedAnewAfterACommandThatMayHaveChangedTheGuest) {
  StartInstance();
  const auto guest = Connect();
  Script(*guest, "echo $$");
  const std::string waited = WaitingShell();
  const auto expect_another = [&](const std::string& before) {
    std::string waits;
    EXPECT_TRUE(Eventually([&] {
      const std::vector<pid_t> commands = Commands();
      waits = commands.size() == 1 ? std::to_string(commands.front()) + "\n" : before;
      return waits != before;
    }));
    return waits;
  };
  CollectedOutput sink;
  Run(*guest, "true", sink, minute_);
  const std::string after_run = expect_another(waited);

  guest::Command shell;
  shell.command_line = "exec /bin/sh";
  shell.hold_standard_input_open = true;
  const auto waiting = guest->StartWaiting(shell, std::make_shared<CollectedOutput>());
  ASSERT_NE(waiting, nullptr);
  EXPECT_EQ(waiting->Finish("exit 3\n", minute_).exit_status, 3);
  const std::string after_waiting = expect_another(after_run);
  EXPECT_EQ(Script(*guest, "echo $$"), after_waiting);
}

TEST_F(SpareCommand, OneThatEndsBeforeItsInputDoesNothing) {
  StartInstance();
  const auto guest = Connect();
  guest::Command command;
  command.command_line = "true";
  const auto waiting = guest->StartWaiting(command, std::make_shared<CollectedOutput>());
  ASSERT_NE(waiting, nullptr);
  EXPECT_TRUE(Eventually([&] { return !waiting->waiting(); }));
  EXPECT_FALSE(
      Thrown<support::ConnectionLost>([&] { waiting->Finish("input", minute_); }).may_have_run());
  EXPECT_TRUE(guest->alive());
}

TEST_F(SpareCommand, WhatItPrintsBeforeItsInputIsPassedOn) {
  StartInstance();
  const auto guest = Connect();
  line_ = "echo early; exec /bin/sh";
  Script(*guest, "true");
  const std::string waits = WaitingShell();
  EXPECT_EQ(Script(*guest, "echo $$"), "early\n" + waits);
}

/// Has enough after the first piece.
class EnoughAtOnce : public guest::OutputSink {
 public:
  bool OnOutput(guest::OutputStream, std::string_view bytes) override {
    output += bytes;
    thread = std::this_thread::get_id();
    return false;
  }

  std::string output;
  std::thread::id thread;
};

TEST_F(SpareCommand, ASinkThatHasEnoughOfWhatWasPrintedBeforeItsInputEndsIt) {
  StartInstance();
  const auto guest = Connect();
  line_ = "echo early; exec /bin/sh";
  Script(*guest, "true");
  const std::string waits = WaitingShell();
  EnoughAtOnce sink;
  guest->Run(WithInput("cat\n"), sink, minute_);
  EXPECT_EQ(sink.output, "early\n");
  EXPECT_NE(sink.thread, std::this_thread::get_id()) << "not on the caller's thread";
  EXPECT_TRUE(Eventually([&] { return ::kill(std::stoi(waits), 0) != 0; }));
}

TEST_F(SpareCommand, OneThatPrintsTooMuchIsNotUsed) {
  StartInstance();
  const auto guest = Connect();
  line_ = "head -c 100000 /dev/zero | tr '\\0' x; exec /bin/sh";
  for (int i = 0; i < 3; ++i) {
    const std::string output = Script(*guest, "echo end");
    EXPECT_EQ(output.size(), 100'004U);
    EXPECT_THAT(output, EndsWith("xend\n"));
    EXPECT_TRUE(Eventually([&] { return Commands().empty(); })) << "nothing waits";
  }
}

TEST_F(SpareCommand, OneThatWasKilledIsReplaced) {
  StartInstance();
  const auto guest = Connect();
  Script(*guest, "true");
  const std::string waits = WaitingShell();
  ASSERT_EQ(::kill(std::stoi(waits), SIGKILL), 0);
  EXPECT_TRUE(Eventually([&] { return Commands().empty(); }));
  guest->Stat("/", minute_);  // sshd tells of the end before it answers
  EXPECT_NE(Script(*guest, "echo $$"), waits);
}

// One that was taken may be ended, as outdated, before it has its input.
TEST_F(SpareCommand, ScriptsBesideOtherCommandsAreAllRun) {
  StartInstance();
  const auto guest = Connect();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 40; ++round) {
        CollectedOutput sink;
        if (i % 2 == 0) {
          EXPECT_EQ(Script(*guest, "echo script"), "script\n");
        } else {
          EXPECT_EQ(Run(*guest, "true", sink, minute_).exit_status, 0);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SpareCommand, AnotherCommandLineDoesNotGetIt) {
  StartInstance();
  const auto guest = Connect();
  Script(*guest, "true");
  const std::string waits = WaitingShell();
  line_ = "echo other; exec /bin/sh";
  EXPECT_THAT(Script(*guest, "echo $$"), StartsWith("other\n"));
}

TEST_F(SpareCommand, ItsScriptEndsWithItsContext) {
  StartInstance();
  const auto guest = Connect();
  Script(*guest, "true");
  const std::string waits = WaitingShell();
  CollectedOutput sink;
  const guest::Command until_its_input_ends = WithInput("{ cat; exit 0; }\n");
  EXPECT_THROW(guest->Run(until_its_input_ends, sink, support::Context().WithTimeout(200ms)),
               support::Stopped);
  EXPECT_TRUE(Eventually([&] { return ::kill(std::stoi(waits), 0) != 0; }));
  EXPECT_EQ(Script(*guest, "echo next"), "next\n");
}

TEST_F(SpareCommand, GivesWayWhereTheGuestAllowsFewChannels) {
  for (const char* sessions : {"MaxSessions 1", "MaxSessions 2"}) {
    StartInstance({sessions});
    const auto guest = Connect();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 5; ++round) {
          EXPECT_EQ(Script(*guest, "echo script"), "script\n") << sessions;
          CollectedOutput sink;
          EXPECT_EQ(Run(*guest, "true", sink, minute_).exit_status, 0) << sessions;
          EXPECT_EQ(guest->Stat("/", minute_).type, guest::FileType::kDirectory) << sessions;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace ssh_guest
