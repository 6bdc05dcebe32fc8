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
  /// Reads until the output ends so, or the process has ended.
  std::string ReadUntil(const std::string& id, const std::string& end) {
    std::string text;
    for (bool running = true; running && !text.ends_with(end);) {
      const json read = ReadOn(id);
      text += read.value("output", "");
      running = read.value("running", false) || read.contains("remaining");
    }
    return text;
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

TEST_F(ProcessTools, AReplIsStartedReadWrittenAndStopped) {
  StartGuest();
  const json started =
      Start("echo hello; while read -r line; do echo \"got $line\"; done; exit 7", 2000);
  EXPECT_EQ(started.at("id"), "p1");
  EXPECT_EQ(started.at("running"), true);
  EXPECT_EQ(started.at("output"), "hello\n");
  EXPECT_EQ(started.at("next_offset"), 6);
  EXPECT_EQ(Send("p1", {{"input", "one\n"}}).at("running"), true);
  EXPECT_EQ(ReadUntil("p1", "one\n"), "got one\n");
  EXPECT_EQ(Call("read_process", {{"id", "p1"}, {"offset", 0}}).at("output"), "hello\ngot one\n");
  const json ended = Send("p1", {{"input", "last"}, {"end_input", true}});
  EXPECT_EQ(ended.at("running"), false);
  EXPECT_EQ(ended.at("exit_code"), 7);

  const json listed = Call("read_process", json::object()).at("processes");
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].at("exit_code"), 7);
  EXPECT_EQ(listed[0].at("directory"), root);
  EXPECT_THAT(listed[0].at("command").get<std::string>(), StartsWith("bash -c 'echo hello"));
  EXPECT_THAT(Refusal("read_process", {{"id", "p7"}}), HasSubstr("no process p7; known are p1"));
}

TEST_F(ProcessTools, AFailureIsInTheFirstAnswer) {
  StartGuest();
  const json failed = Start("echo no such port >&2; exit 4", kWait);
  EXPECT_EQ(failed.at("running"), false);
  EXPECT_EQ(failed.at("exit_code"), 4);
  EXPECT_EQ(failed.at("output"), "no such port\n");
  const json line = Call("start_process", {{"command", {"ls | wc"}}, {"directory", root}});
  EXPECT_THAT(line.at("error").get<std::string>(), HasSubstr(R"(use ["bash","-c","ls | wc"])"));
}

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

TEST_F(ProcessTools, ALostConnectionLosesThem) {
  StartGuest();
  // Either call may return the output.
  std::string before = Start("echo before; exec sleep 300").at("output");
  if (before.empty()) before = ReadUntil("p1", "before\n");
  EXPECT_EQ(before, "before\n");
  testing_support::KillEverything(Instance());
  const json lost = ReadToTheEnd("p1");
  EXPECT_EQ(lost.at("running"), false);
  EXPECT_THAT(lost.at("error").get<std::string>(), StartsWith("the process was lost"));
  Instance().Stop();
  Instance().Start();
  EXPECT_EQ(Shell("echo again").value("stdout", ""), "again\n");
  EXPECT_EQ(Call("read_process", {{"id", "p1"}, {"offset", 0}}).at("output"), "before\n");
  EXPECT_EQ(Start("true").at("id"), "p2");
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

TEST_F(ProcessTools, ReadTheRestOfACutCommand) {
  StartGuest();
  const json cut = Shell("seq 200000; echo error >&2");
  const auto text = cut.at("stdout").get<std::string>();
  EXPECT_THAT(text, HasSubstr(" bytes left out; read_process {\"id\":\"c1\"} returns them …]\n"));
  EXPECT_EQ(cut.at("stderr"), "error\n");
  std::string whole;
  for (json read = {{"remaining", 1}}; read.contains("remaining");) {
    read = Call("read_process", {{"id", "c1"}});
    whole += read.at("output").get<std::string>();
  }
  const std::string size = Shell("seq 200000 | wc -c").value("stdout", "0");
  EXPECT_EQ(whole.size(), std::stoul(size) + std::string("error\n").size());
  EXPECT_THAT(whole, StartsWith("1\n2\n3\n"));
  EXPECT_THAT(Refusal("read_process", {{"id", "c9"}}), HasSubstr("kept are c1"));
}

}  // namespace
}  // namespace integration
