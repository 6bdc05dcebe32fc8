// SPDX-License-Identifier: Apache-2.0
// limactl-mcp, git, the guest's script or the connection is killed at a random call of git on
// either side, or within a pack. The next try does what the killed one should have done.
//
// LIMACTL_MCP_KILLS sets the number of rounds (default: what kDefaultTime allows), LIMACTL_MCP_SEED
// the seed.

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "integration/copy_fixture.h"

namespace integration {
namespace {

constexpr auto kDefaultTime = 18s;
constexpr std::size_t kManyCalls =
    20;  ///< of git, by one command on one side, before they are counted

struct Kill {
  std::string name;
  std::string side;    ///< whose call of git does it
  std::string script;  ///< in the place of that call, which then goes on
};

void PrintTo(const Kill& kill, std::ostream* out) {
  *out << kill.name;
}

const std::vector<Kill> kKills = {
    {"program, at its own git", "host", "kill -9 $(cat ../pid)"},
    {"program, at the guest's git", "guest", "kill -9 $(cat ../pid)"},
    {"git", "host", "kill -9 $$"},
    {"guest's git", "guest", "kill -9 $$"},
    {"guest's script", "guest", "kill -9 $PPID"},
    {"connection", "guest", R"sh(
      at=$$
      while [ "$at" -gt 1 ]; do
        case $(ps -o comm= -p $at) in *sshd*) kill -9 $at; break ;; esac
        at=$(ps -o ppid= -p $at | tr -d ' ')
      done)sh"},
};

class CopyKill : public CopyTest, public ::testing::WithParamInterface<Kill> {
 protected:
  void SetUp() override {
    StartAgent();
    for (const char* side : {"host", "guest"}) {
      const std::string bin = Path(side).string() + "-bin";
      MakeProgram(std::string(side) + "-bin/git", "PATH=${PATH#" + bin + ":}\nbin=" + bin + R"sh(
        echo >> $bin/calls
        [ $(($(wc -l < $bin/calls))) != "$(cat $bin/at)" ] || (cd $bin && . ./kill)
        exec git "$@")sh");
    }
  }

  /// Kills at the call `number`, from 1; returns how many there were.
  std::size_t RunKilled(const Command& words, const Kill& kill, std::size_t number) {
    for (const char* side : {"host", "guest"}) {
      MakeFile(std::string(side) + "-bin/calls", "");
      MakeFile(std::string(side) + "-bin/at", side == kill.side ? std::to_string(number) : "none");
    }
    MakeFile(kill.side + "-bin/kill", kill.script + "\n");
    ChildProcess::Options options = CommandOptions(words);
    const Command with_pid = {"sh", "-c", "echo $$ > \"$0\"; exec \"$@\"", Path("pid")};
    options.arguments.insert(options.arguments.begin(), with_pid.begin(), with_pid.end());
    RunProcess(options);
    MakeFile("host-bin/at", "none");
    MakeFile("guest-bin/at", "none");
    return ReadFile(Path(kill.side + "-bin/calls")).size();
  }

  void RunKilledSomewhere(const Command& words, const Kill& kill) {
    std::size_t& most = calls_.try_emplace(words.front() + words.back(), kManyCalls).first->second;
    const std::size_t number = 1 + random() % most;
    trace_ << words.front() << " " << number << "; ";
    const std::size_t calls = RunKilled(words, kill, number);
    if (calls < number) most = std::max<std::size_t>(calls, 1);  // none was killed
  }

  /// The copy is what the project is, and nothing tells of the attempt that failed.
  void ExpectSent() {
    SendCopy();
    EXPECT_EQ(FilesOf(copy), FilesOf(project));
    EXPECT_EQ(InCopy("git rev-parse HEAD"), InProject("git rev-parse HEAD"));
    EXPECT_EQ(InCopy("git status --porcelain"), InProject("git status --porcelain"));
    EXPECT_EQ(InCopy("find .git -name '*.lock' -o -name 'tmp_*' -o -path '*limactl-mcp/next'"), "");
  }

  void ExpectTaken() {
    Succeed({"take"});
    EXPECT_EQ(InProject("git branch --list 'agent/*' --format='%(refname:short)'"), "agent/main");
    EXPECT_EQ(FilesOfCommit("agent/main"), FilesOf(copy));
    InProject("git branch -qD agent/main; git fsck --strict --no-dangling");
    EXPECT_EQ(Shell(SideRepository(), "find . -name '*.lock' -o -name 'tmp_*' -o -name incoming"),
              "");
  }

  /// The project has the copy's files, and what the user has made since.
  void ExpectApplied(const std::string& name) {
    (void)Run({"take", "--apply"});  // a killed one may have done all but say so
    Files expected = FilesOf(copy);
    expected[name] = "- mine\n";
    EXPECT_EQ(FilesOf(project), expected);
    // A guest's git that is killed may make the commit with the other author.
    EXPECT_THAT(Succeed({"take", "--apply"}).output,
                ::testing::AnyOf(HasSubstr("Nothing to take."), HasSubstr("No file differs.")));
    ExpectOneSnapshot();
  }

  void ExpectOneSnapshot() {
    EXPECT_EQ(Shell(SideRepository(), "echo $(ls -d replaced-* | wc -l)"), "1");
  }

  /// The next command puts back what the killed one has begun; then it does all.
  void ExpectUndone(const Files& before) {
    Succeed({"diff", "--stat"});
    ExpectOneSnapshot();
    if (FilesOf(project) != before) Succeed({"take", "--undo"});
    EXPECT_EQ(FilesOf(project), before);
  }

  std::mt19937 random = SeededRandom();
  std::map<std::string, std::size_t> calls_;
  std::ostringstream trace_;
};

TEST_P(CopyKill, IsRepairedByTheNextTry) {
  const char* given = std::getenv("LIMACTL_MCP_KILLS");
  const auto end = std::chrono::steady_clock::now() + kDefaultTime / kKills.size();
  MakeProject("p");
  int round = 0;
  while (given != nullptr ? round < std::atoi(given) : std::chrono::steady_clock::now() < end) {
    const std::string number = std::to_string(++round);
    trace_.str("");
    InProject("rm -f host-*; echo " + number + " > host-" + number + "; echo x >> file.txt");
    if (round % 2 == 0) InProject("git commit -qam " + number);
    if (round % 3 == 1) RunKilledSomewhere({"drop", "--force"}, GetParam());
    RunKilledSomewhere({"copy", "--copy-dir", copy}, GetParam());
    ExpectSent();
    InCopy("rm -f agent-*; echo x > agent-" + number +
           "; echo agent >> file.txt; git commit -qam x");
    if (round % 2 == 0) {
      RunKilledSomewhere({"take"}, GetParam());
      ExpectTaken();
    } else {
      const std::string name = "user-" + number;
      InProject("echo mine > " + name);
      const Files before = FilesOf(project);
      RunKilledSomewhere({"take", "--apply"}, GetParam());
      ExpectApplied(name);
      RunKilledSomewhere({"take", "--undo"}, GetParam());
      ExpectUndone(before);
      ExpectApplied(name);
      InProject("rm " + name);
    }
    ASSERT_FALSE(HasFailure()) << "round " << round << ", killed at call " << trace_.str();
  }
  std::cout << round << " rounds\n";
}

INSTANTIATE_TEST_SUITE_P(Of, CopyKill, ::testing::ValuesIn(kKills), [](const auto& kill) {
  std::string name = kill.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

class CopyKillInAPack : public CopyKill {
 protected:
  static std::uintmax_t Arrived(const fs::path& directory) {
    std::uintmax_t size = 0;
    std::error_code gone;
    for (fs::recursive_directory_iterator entry(directory, gone), none; entry != none;
         entry.increment(gone)) {
      if (!entry->path().filename().string().starts_with("tmp_pack")) continue;
      const std::uintmax_t found = entry->file_size(gone);
      if (!gone) size = std::max(size, found);
    }
    return size;
  }

  /// Kills it as soon as a random part of a pack has arrived in `directory`.
  void Interrupt(const Command& words, const fs::path& directory, std::uintmax_t most) {
    ChildProcess child(CommandOptions(words));
    const std::uintmax_t enough = random() % most;
    EXPECT_TRUE(Eventually([&] { return Arrived(directory) > enough || child.Wait(0ms); }, 60s));
    child.Signal(SIGKILL);
    EXPECT_TRUE(child.Wait(10s));
  }
};

TEST_F(CopyKillInAPack, IsRepairedByTheNextTry) {
  constexpr std::uintmax_t kSize = 4'000'000;
  const std::string grow = "head -c 4000000 /dev/urandom > large";
  MakeFile("host-bin/at", "none");
  MakeFile("guest-bin/at", "none");
  MakeProject("p");
  for (int round = 0; round < 2; ++round) {
    InProject(grow);
    Interrupt({"copy", "--copy-dir", copy}, copy, kSize);
    ExpectSent();
    InCopy(grow + "-too");
    Interrupt({"take"}, SideRepository(), kSize);
    ExpectTaken();
    Interrupt({"drop", "--force"}, copy, 1);
  }
}

}  // namespace
}  // namespace integration
