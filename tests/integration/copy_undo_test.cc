// SPDX-License-Identifier: Apache-2.0
// `undo` puts back every byte of every state that `log` has seen, whatever the agent does in
// between, and whatever is killed.
//
// LIMACTL_MCP_KILLS: kills at each call of git instead of as many as kKillTime allows.

#include <iostream>

#include "integration/copy_fixture.h"
#include "integration/copy_work.h"

namespace integration {
namespace {

constexpr auto kKillTime = 15s;

/// What agents do besides kWork.
const std::vector<std::string> kMore = {
    "rm -rf x; mkdir x; echo $n > x/f",
    "rm -rf x; echo $n > x",
    "rm -rf x; ln -s file.txt x",
    "chmod +x file.txt",
    "chmod -x file.txt",
    "printf 'a\\r\\nb\\n%s' $n > crlf.txt",
    "head -c 5000 /dev/urandom > binary",
    "n=\"$(printf 'odd \\nname-%s' $n)\"; echo > \"$n\"; echo > 'a b'; echo > '*'; echo > -x",
    "printf '%s\\n' '* text=auto eol=crlf' '*.txt ident' 'binary filter=lfs' > .gitattributes",
    "rm -f .gitattributes",
    "git config core.autocrlf true; git config filter.lfs.clean false; git config "
    "filter.lfs.required true",
    "git add -A; git reset -q --soft HEAD~",
    "git clean -qfd",
    "git reset -q --hard",
    "git update-index --split-index",
    "touch -d '2020-01-01' file.txt",
};

class CopyUndo : public CopyTest {
 protected:
  void SetUp() override {
    StartAgent();
    MakeProject("p");
    SendCopy();
  }

  /// What a checkpoint has: neither ignored files nor repositories in the copy.
  Files State() const {
    Files files = FilesOf(copy);
    std::erase_if(files, [](const auto& entry) {
      const std::string& name = entry.first;
      return name.starts_with("ignored-") || name.starts_with("nested-") ||
             name.starts_with("deep-") || name.starts_with("tree-");
    });
    return files;
  }

  /// What `undo` leaves alone.
  std::string Repository() const {
    return InCopy(
        "git for-each-ref | grep -v limactl-mcp; git ls-files -s; cat .git/HEAD; git stash list; "
        "find .git -name '*.lock'");
  }

  /// The number that `log` gives to what is there.
  std::string Log() {
    for (const std::string& line : LinesOf(Succeed({"log"}).output)) {
      if (line.ends_with("<- now")) return line.substr(2, line.find(' ', 2) - 2);
    }
    ADD_FAILURE() << "no state is now";
    return "";
  }

  void ExpectBack(const std::string& number, const Files& expected) {
    Succeed({"undo", number});
    EXPECT_EQ(State(), expected) << "#" << number;
  }

  std::mt19937 random = SeededRandom();
};

TEST_F(CopyUndo, BringsBackEveryByte) {
  std::vector<std::string> moves = kWork;
  moves.insert(moves.end(), kMore.begin(), kMore.end());
  std::map<std::string, Files> states;
  std::string log;
  const Steps steps;
  int step = 0;
  for (; !steps.AreOver(step); ++step) {
    for (std::size_t some = random() % 4; some > 0; --some) {
      const std::string& move = moves[random() % moves.size()];
      log += move + "\n";
      // git may refuse it.
      InCopy("n=" + std::to_string(step) + std::to_string(some) + "\n(" + move +
             ") >/dev/null 2>&1 || true");
    }
    const std::string now = Log();
    const Files before = State();
    const auto [known, is_new] = states.try_emplace(now, before);
    EXPECT_EQ(known->second, before) << "#" << now << " means two states";
    const auto target =
        std::next(states.begin(), static_cast<std::ptrdiff_t>(random() % states.size()));
    log += "UNDO " + target->first + " of " + now + "\n";
    const std::string repository = Repository();
    if (const ProcessResult result = Run({"undo", target->first}); result.exit_code != 0) {
      EXPECT_THAT(result.error, HasSubstr("is ignored in the copy, which would now get another"));
      EXPECT_EQ(State(), before);
    } else {
      EXPECT_EQ(State(), target->second);
    }
    EXPECT_EQ(Repository(), repository);
    ASSERT_FALSE(HasFailure()) << log;
  }
  std::cout << step << " steps\n";
}

class CopyUndoKill : public CopyUndo {
 protected:
  void SetUp() override {
    CopyUndo::SetUp();
    const std::string bin = Path("guest-bin");
    MakeProgram("guest-bin/git", "PATH=${PATH#" + bin + ":}\nbin=" + bin + R"sh(
      echo >> $bin/calls
      at=$(($(wc -l < $bin/calls)))
      [ "$at" != "$(cat $bin/before)" ] || { kill -9 $PPID; exit 1; }
      [ "$at" = "$(cat $bin/after)" ] || exec git "$@"
      git "$@"
      kill -9 $PPID)sh");
  }

  /// Returns whether there was such a call.
  bool RunKilled(const Command& words, const std::string& when, std::size_t call) {
    for (const std::string name : {"before", "after"})
      MakeFile("guest-bin/" + name, name == when ? std::to_string(call) : "none");
    MakeFile("guest-bin/calls", "");
    (void)Run(words);
    const std::size_t calls = ReadFile(Path("guest-bin/calls")).size();
    for (const char* name : {"before", "after"}) MakeFile(std::string("guest-bin/") + name, "none");
    return calls >= call;
  }

  /// Changes files, kills `words` at a call, and expects all states to be there.
  bool Round(const Command& words, const std::string& when, std::size_t call) {
    const std::string number = std::to_string(call);
    InCopy("rm -rf x-*; echo " + when + number + " > file.txt; echo > x-" + number +
           "; rm -rf dir; mkdir dir; echo " + number + " > dir/inner.txt");
    const std::string old = Log();
    const Files old_files = State();
    InCopy("echo more >> file.txt; rm -r dir; echo file > dir");
    const Files files = State();
    const bool is_killed = RunKilled({words.front(), words.size() > 1 ? old : "agent"}, when, call);
    if (words.front() == "log") {
      EXPECT_EQ(State(), files);
      const std::string now = Log();
      ExpectBack(old, old_files);
      ExpectBack(now, files);
    } else {
      ExpectBack(old, old_files);
      // Some checkpoint has what was there.
      bool is_kept = false;
      for (const std::string& line : LinesOf(Succeed({"log"}).output)) {
        Succeed({"undo", line.substr(2, line.find(' ', 2) - 2)});
        if (is_kept = State() == files; is_kept) break;
      }
      EXPECT_TRUE(is_kept);
    }
    InCopy("git --git-dir=.git/limactl-mcp.undo fsck --full --no-dangling 2>&1");
    EXPECT_EQ(InCopy("find .git/limactl-mcp.undo -name '*.lock' -o -name 'tmp_*'"), "");
    return is_killed;
  }
};

TEST_F(CopyUndoKill, LosesNothing) {
  const bool is_complete = std::getenv("LIMACTL_MCP_KILLS") != nullptr;
  const auto end = std::chrono::steady_clock::now() + kKillTime;
  int rounds = 0;
  std::size_t most = 40;
  for (std::size_t call = 1; call <= most; ++call) {
    for (const Command& words : {Command{"log"}, Command{"undo", "N"}}) {
      for (const std::string when : {"before", "after"}) {
        if (!is_complete && std::chrono::steady_clock::now() > end) break;
        const std::size_t at = is_complete ? call : 1 + random() % most;
        const bool is_killed = Round(words, when, at);
        if (words.front() == "undo" && !is_killed) most = std::max<std::size_t>(at - 1, 1);
        ASSERT_FALSE(HasFailure()) << words.front() << ", killed " << when << " call " << at;
        ++rounds;
      }
    }
  }
  std::cout << rounds << " rounds\n";
}

}  // namespace
}  // namespace integration
