// SPDX-License-Identifier: Apache-2.0
// read_process with `until`: a wait for a line of a process.

#include <gmock/gmock.h>

#include <thread>

#include "shell/output_log.h"
#include "unit/server/tools/tool_fixture.h"

namespace tools {
namespace {

using nlohmann::json;
using ::testing::EndsWith;

class Until : public ToolTest {
 protected:
  /// Returns the id of a process that runs this in sh. Waits for its end if `time` is given.
  std::string Start(const std::string& script, int time = 0) {
    return Structured(
               Call("start_process",
                    {{"command", {"sh", "-c", script}}, {"directory", "/work"}, {"wait_ms", time}}))
        .at("id");
  }
  void Send(const std::string& id, const std::string& input) {
    Call("write_process", {{"id", id}, {"input", input}});
  }
  /// "OUTPUT|LINE", or "OUTPUT" if none has matched.
  std::string Read(const std::string& id, const std::string& until, json more = json::object()) {
    more.update({{"id", id}, {"until", until}});
    const json result = Structured(Call("read_process", more));
    const std::string line =
        result.contains("matched") ? "|" + result["matched"].get<std::string>() : "";
    return result.at("output").get<std::string>() + line;
  }
};

TEST_F(Until, FindsTheFirstLineThatMatches) {
  struct Case {
    std::string printed;  ///< by printf
    std::string until;
    std::string found;
  };

  for (const auto& [printed, until, found] : std::vector<Case>{
           {"one\\ntwo\\ntwo three\\n", "two", "one\ntwo\n|two"},
           {"ab\\nb\\nc", "^b$", "ab\nb\n|b"},
           {"a\\nb\\nc\\n", "a\\s+b|c", "a\nb\nc\n|c"},  // lines are looked at one by one
           {"a\\n\\nb\\n", "^$", "a\n\n|"},
           {"a\\n", "^$", "a\n"},
           {"one\\r\\ntwo\\r\\n", "one$", "one\r\n|one"},
           {"\\033[1;32mrea\\033[0mdy\\033[m\\r\\n", "^ready$",
            "\x1B[1;32mrea\x1B[0mdy\x1B[m\r\n|ready"},
           {"\\033[2Kx\\n", "2K", "\x1B[2Kx\n|\x1B[2Kx"},  // no colour
           {"name> ", "> $", "name> |name> "},
           {"\\377\\303\\244\\n\\303\\244.\\n", "^.\xC3\xA4$",
            "\xEF\xBF\xBD\xC3\xA4\n|\xEF\xBF\xBD\xC3\xA4"},
           {"Ready\\n", "(?i)READY", "Ready\n|Ready"},
           {"one\\n", "four", "one\n"},
           {"", ".*", ""}}) {
    EXPECT_EQ(Read(Start("printf '" + printed + "'", 20'000), until, {{"offset", 0}}), found)
        << until;
  }
}

TEST_F(Until, LooksAtTheBeginningOfALongLine) {
  const std::string id = Start("head -c 65536 /dev/zero | tr '\\0' x; echo y; echo yes", 20'000);
  EXPECT_THAT(Read(id, "x$", {{"offset", 0}}), EndsWith("y\n|" + std::string(2000, 'x')));
  EXPECT_THAT(Read(id, "y", {{"offset", 0}}), EndsWith("xy\nyes\n|yes"));
}

TEST_F(Until, TakesALineThatCameBeforeTheCallAndLeavesWhatFollows) {
  const std::string id = Start("printf 'one\\ntwo\\nthree\\n'; exec sleep 60", 300);
  EXPECT_EQ(Read(id, "t", {{"offset", 0}}), "one\ntwo\n|two");
  EXPECT_EQ(Read(id, "three", {{"wait_ms", 0}}), "three\n|three");
  EXPECT_EQ(Read(id, "one", {{"wait_ms", 0}}), "") << "begins where the last read ended";
}

TEST_F(Until, WaitsForALineThatComesInParts) {
  const std::string id =
      Start("printf re; read -r line; printf 'ad'; read -r line; echo y; sleep 60");
  EXPECT_EQ(Read(id, "^re$", {{"offset", 0}}), "re|re") << "nothing comes: it may be a prompt";
  std::thread reader([&] { EXPECT_EQ(Read(id, "^ready$", {{"offset", 0}}), "ready\n|ready"); });
  Send(id, "\n");
  EXPECT_EQ(Read(id, "^ad$"), "ad|ad") << "another read meanwhile, from where the last ended";
  Send(id, "\n");
  reader.join();
}

TEST_F(Until, EndsWithTheProcessOrItsTime) {
  const std::string id = Start("read -r line; echo last; exit 3");
  EXPECT_EQ(Read(id, "x", {{"wait_ms", 50}}), "");
  Send(id, "\n");
  EXPECT_EQ(Read(id, "x"), "last\n");
  EXPECT_EQ(Read(id, "last", {{"offset", 0}}), "last\n|last") << "it has ended";
}

TEST_F(Until, ReturnsTheEndOfALongOutputAndSkipsWhatIsGone) {
  const std::string id =
      Start("read -r go; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo ready; echo; sleep 60");
  Send(id, "go\n");  // only now: start_process returns what is there already
  const json result = Structured(Call("read_process", {{"id", id}, {"until", "^ready$"}}));
  EXPECT_THAT(result.at("output").get<std::string>(), EndsWith("x\nready\n"));
  EXPECT_EQ(result.at("output").get<std::string>().size(), shell::kMaxRead);
  EXPECT_EQ(result.at("next_offset"), 3'000'007);
  EXPECT_EQ(result.at("dropped"), 3'000'007 - shell::kMaxRead);
  EXPECT_EQ(Read(id, "^$"), "\n|");
}

/// The guest drops the oldest lines while they are looked at.
TEST_F(Until, ReturnsTheMatchingLineOfAFastOutput) {
  const std::string id = Start("read -r go; exec seq 10000000000 12000000000");
  Send(id, "go\n");
  std::uint64_t offset = 0;
  std::uint64_t dropped = 0;
  for (int i = 0; i < 40; ++i) {
    const json result = Structured(Call("read_process", {{"id", id}, {"until", "^.{6}7777.$"}}));
    const std::string output = result.at("output");
    EXPECT_TRUE(output.ends_with(result.value("matched", "none") + "\n")) << result;
    EXPECT_EQ(result.at("next_offset"), offset + result.value("dropped", 0U) + output.size());
    offset = result.at("next_offset");
    dropped += result.value("dropped", 0U);
  }
  EXPECT_GT(dropped, 0U) << "it was not fast";
}

TEST_F(Until, LooksAtNoLineWhoseBeginningIsGone) {
  const std::string id = Start("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo y", 20'000);
  EXPECT_EQ(Read(id, "x$", {{"offset", 0}}), std::string(shell::kMaxRead, 'x'));
  EXPECT_THAT(Read(id, "y$", {{"offset", 0}}), EndsWith("x\ny\n|y"));
}

TEST_F(Until, CanBeCancelled) {
  const std::string id = Start("read -r go; echo first; while :; do echo x; sleep 0.01; done");
  Send(id, "go\n");
  support::StopSource source;
  context = source.context();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.Stop(support::StopReason::kCancelled);
  });
  EXPECT_THROW(Read(id, "never"), support::Stopped);
  stopper.join();
  context = {};
  EXPECT_EQ(Read(id, "first"), "first\n|first") << "it has read nothing";
}

TEST_F(Until, SixMayWaitAtOnce) {
  std::vector<std::thread> readers;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < shell::kMaxProcesses; ++i) {
    ids.push_back(Start("read -r line; echo \"got $line\"; exec sleep 60"));
    readers.emplace_back([this, id = ids.back()] { EXPECT_EQ(Read(id, "got"), "got x\n|got x"); });
  }
  for (const std::string& id : ids) Send(id, "x\n");
  for (std::thread& reader : readers) reader.join();
}

TEST_F(Until, SearchesAWholeOutputThatWasCut) {
  Call("run_shell_command", {{"command", {"seq", "100000"}}, {"directory", "/work"}});
  EXPECT_THAT(Read("c1", "^99999$"), EndsWith("99999\n|99999"));
  EXPECT_EQ(Read("c1", "0"), "100000\n|100000");
  EXPECT_EQ(Read("c1", "^7$", {{"offset", 0}}), "1\n2\n3\n4\n5\n6\n7\n|7");
}

TEST_F(Until, IsRefusedIfItIsBadOrTooLarge) {
  EXPECT_EQ(Error("read_process", {{"until", "x"}}), "`until` needs an `id`; running: none");
  const std::string id = Start("exec sleep 60");
  EXPECT_EQ(Error("read_process", {{"until", "x"}}),
            "`until` needs an `id`; running: p1 sh -c 'exec sleep 60'");
  for (const auto& [until, words] : std::vector<std::pair<std::string, std::string>>{
           {"a(b", "missing ): a(b"},
           {"(?=a)", "invalid perl operator: (?="},
           {"(\\pL{100}){10}", "pattern too large - compile failed"}}) {
    EXPECT_EQ(Error("read_process", {{"id", id}, {"until", until}}), "`until`: " + words);
  }
}

}  // namespace
}  // namespace tools
