// start_process, read_process and write_process, and the rest of cut outputs.

#include <csignal>
#include <functional>

#include "integration/fixture.h"

namespace integration {
namespace {

constexpr int kWait = 20'000;  // milliseconds

class ProcessTools : public IntegrationTest {
 protected:
  [[nodiscard]] json StartArguments(const std::string& script, int wait = 0) const {
    return {{"command", {"bash", "-c", script}}, {"directory", root}, {"wait_ms", wait}};
  }
  json Start(const std::string& script, int wait = 0) {
    return Call("start_process", StartArguments(script, wait));
  }
  json ReadOn(const std::string& id, int wait = kWait) {
    return Call("read_process", {{"id", id}, {"wait_ms", wait}});
  }
  json ReadToTheEnd(const std::string& id) {
    json read = ReadOn(id);
    // A shell may print that a child of it was killed.
    while (read.at("running").get<bool>()) read = ReadOn(id);
    return read;
  }
  json Send(const std::string& id, const json& more) {
    json arguments = {{"id", id}};
    arguments.update(more);
    return Call("write_process", arguments);
  }
};

TEST_F(ProcessTools, EndWithTheirChildrenThoughTheyIgnoreTerm) {
  StartRoot();
  const std::vector<std::function<void()>> ways = {
      [&] {
        EXPECT_EQ(Send("p1", {{"signal", "TERM"}}).at("running"), true);
        EXPECT_EQ(ReadToTheEnd("p1").at("exit_code"), 128 + SIGKILL) << "KILL follows";
      },
      [&] { client().process().Signal(SIGKILL); },
      [&] { EXPECT_EQ(client().CloseAndWait(10s), 0); }};
  for (const auto& end : ways) {
    Serve();
    Start(
        "trap '' TERM; (sh -c 'echo $PPID >child.new; mv child.new child'; while :; do sleep 0.2; "
        "done) & echo $$ >main.new; mv main.new main; while :; do sleep 0.2; done");
    EXPECT_NE(Await("main") + Await("child"), "");
    end();
    for (const char* file : {"root/main", "root/child"}) {
      EXPECT_TRUE(EndsSoon(Path(file)));
      fs::remove(Path(file));
    }
  }
}

TEST_F(ProcessTools, SixRunBesideTwoCommandsSearchesAndFilesOnOneConnection) {
  constexpr int kAll = 6;
  StartGuest();
  MakeFile("root/a.txt", "text");
  // They wait for channels that idle shells, and one command, still have.
  std::vector<std::int64_t> commands;
  for (int i = 0; i < 8; ++i) {
    commands.push_back(BeginShell("touch go" + std::to_string(i) + "; until [ -e stop" +
                                  std::to_string(i % 2) + " ]; do sleep 0.05; done"));
  }
  EXPECT_TRUE(Eventually([&] { return List(root).size() == 9; }, 60s));
  std::vector<std::int64_t> starts;
  for (int i = 0; i < kAll; ++i) {
    starts.push_back(client().BeginCall("start_process", StartArguments("read x; echo $x")));
  }
  Write(root + "/stop0", "");
  Write(root + "/stop1", "");
  for (const std::int64_t id : commands) {
    EXPECT_EQ(End(id).at("exit_code"), 0);
  }
  for (const std::int64_t id : starts) {
    EXPECT_EQ(End(id).at("running"), true);
  }
  EXPECT_THAT(Refusal("start_process", StartArguments("true")),
              AllOf(HasSubstr("6 processes run"), HasSubstr("p1 bash -c 'read x; echo $x'; p2")));

  std::vector<std::int64_t> reads;
  for (int i = 1; i <= kAll; ++i) {
    reads.push_back(
        client().BeginCall("read_process", {{"id", "p" + std::to_string(i)}, {"wait_ms", 30'000}}));
  }
  commands.clear();
  for (int i = 0; i < 3; ++i) {
    commands.push_back(
        BeginShell("touch c" + std::to_string(i) + "; until [ -e end ]; do sleep 0.05; done"));
  }
  EXPECT_TRUE(Eventually([&] { return Glob({{"pattern", "c?"}, {"path", root}}).size() == 2; }));
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  EXPECT_EQ(Glob({{"pattern", "**/a.txt"}, {"path", root}}).size(), 1U);
  EXPECT_EQ(Glob({{"pattern", "c?"}, {"path", root}}).size(), 2U) << "the third waits";
  EXPECT_EQ(Instance().SessionPids().size(), 1U) << "connections";
  Write(root + "/end", "");
  for (const std::int64_t id : commands) {
    EXPECT_EQ(End(id).at("exit_code"), 0);
  }
  for (int i = 1; i <= kAll; ++i) Send("p" + std::to_string(i), {{"input", "done\n"}});
  for (const std::int64_t id : reads) {
    EXPECT_EQ(End(id).at("output"), "done\n");
  }
}

TEST_F(ProcessTools, CancelledReadsMakeRoomForOthers) {
  constexpr int kMoreThanThreads = 40;
  StartGuest();
  Start("sleep 300");
  std::vector<std::int64_t> reads;
  for (int i = 0; i < kMoreThanThreads; ++i) {
    reads.push_back(client().BeginCall("read_process", {{"id", "p1"}, {"wait_ms", 30'000}}));
  }
  for (const std::int64_t id : reads) client().Cancel(id);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ReadOn("p1", 0).at("running"), true);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
}

}  // namespace
}  // namespace integration
