// Every tool in a real virtual machine that works.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing_support::ChildProcess;
using testing_support::McpClient;

class RealInstance : public VirtualMachineTest {
 protected:
  void SetUp() override {
    VirtualMachineTest::SetUp();
    Serve();
  }
};

TEST_F(RealInstance, RunsCommandsInTheGuestAndNotOnThisMachine) {
  const fs::path directory = NewDirectory("writable");
  const json result = Run({"uname", "-n"}, directory);
  EXPECT_EQ(result.at("stdout"), "lima-" + machine().name() + "\n");
  EXPECT_EQ(result.at("exit_code"), 0);
  EXPECT_EQ(Run({"pwd"}, directory).at("stdout"), directory.string() + "\n");
}

TEST_F(RealInstance, IsFoundSoundByDoctorButForTheReadOnlyMount) {
  const testing_support::ProcessResult result = testing_support::RunProcess(
      {.arguments = {"limactl", "mcp", "doctor", "--json", machine().name()}}, "", kBootTimeout);
  const json report = json::parse(result.output);
  EXPECT_EQ(result.exit_code, 0) << report.dump(2);
  for (const json& check : report.at("checks")) {
    const std::string name = check.at("name");
    if (name == "shell") continue;  // it may count as slow here
    const bool is_mount = name == "mounts" || name == "mounted";
    EXPECT_EQ(check.at("result"), is_mount ? "warning" : "passed") << check;
    const std::string text = check.at("text");
    EXPECT_TRUE(!is_mount || text.ends_with(": " + machine().Mount("read-only").string())) << text;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(machine().Mount("writable"))) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".limactl-mcp-")) << entry.path();
  }
}

TEST_F(RealInstance, PassesOnExitCodesAndBothOutputs) {
  const json result =
      Run({"bash", "-c", "echo out; echo err >&2; exit 3"}, NewDirectory("writable"));
  EXPECT_EQ(result.at("stdout"), "out\n");
  EXPECT_EQ(result.at("stderr"), "err\n");
  EXPECT_EQ(result.at("exit_code"), 3);
}

TEST_F(RealInstance, WritesThroughAWritableMountToThisMachine) {
  const fs::path file = NewDirectory("writable") / "new" / "file.txt";
  const std::string text = "first\r\nsecond \u00e4\nno newline";
  Write(file, text);
  EXPECT_EQ(ReadOnHost(file), text);
  EXPECT_EQ(Read(file), text);

  Write(file, "again");
  EXPECT_EQ(ReadOnHost(file), "again");
  EXPECT_EQ(Read(file), "again");
}

TEST_F(RealInstance, ReadsWhatThisMachineChangedUnderAWritableMount) {
  const fs::path file = NewDirectory("writable") / "file.txt";
  WriteOnHost(file, "before");
  EXPECT_EQ(Read(file), "before");
  WriteOnHost(file, "after, and longer");
  EXPECT_EQ(Read(file), "after, and longer");
}

TEST_F(RealInstance, ReadsWhatThisMachineChangedUnderAReadOnlyMount) {
  const fs::path directory = NewDirectory("read-only");
  const fs::path file = directory / "file.txt";
  WriteOnHost(file, "before");
  EXPECT_EQ(Read(file), "before");
  for (const std::string text : {"after!", "after, and longer", "", "shorter"}) {
    WriteOnHost(file, text);
    EXPECT_EQ(Read(file), text);
  }
}

TEST_F(RealInstance, SaysBeforehandWhichRootsTheGuestMayShowAsTheyWere) {
  const std::string root = machine().MountPoint("read-only");
  if (machine().TryShell("grep ' " + root + " 9p ' /proc/mounts | grep -q fscache").exit_code !=
      0) {
    GTEST_SKIP() << "this guest does not cache its read-only mounts for good";
  }
  EXPECT_THAT(instructions(), ContainsRegex(machine().Mount("read-only").string() +
                                            " [^\n]*may show old contents"));
}

TEST_F(RealInstance, ReadsButDoesNotWriteAReadOnlyMount) {
  const fs::path directory = NewDirectory("read-only");
  WriteOnHost(directory / "file.txt", "kept");
  EXPECT_EQ(Read(directory / "file.txt"), "kept");
  EXPECT_THAT(Refusal("write_file", {{"path", directory / "file.txt"}, {"content", "lost"}}),
              HasSubstr("read-only"));
  EXPECT_THAT(Refusal("write_file", {{"path", directory / "new.txt"}, {"content", "lost"}}),
              HasSubstr("read-only"));
  EXPECT_EQ(ReadOnHost(directory / "file.txt"), "kept");
  EXPECT_FALSE(fs::exists(directory / "new.txt"));
}

TEST_F(RealInstance, TranslatesAMountPointThatDiffersFromTheLocation) {
  const fs::path directory = NewDirectory("mapped");
  const fs::path in_guest = fs::path("/mnt/mapped") / directory.filename();
  EXPECT_EQ(Run({"pwd"}, directory).at("stdout"), in_guest.string() + "\n");
  Write(directory / "file.txt", "same file");
  EXPECT_EQ(ReadOnHost(directory / "file.txt"), "same file");
  EXPECT_EQ(Run({"cat", in_guest / "file.txt"}, directory).at("stdout"), "same file");
  EXPECT_EQ(Read(in_guest / "file.txt"), "same file");
  EXPECT_EQ(Result("glob", {{"pattern", "*.txt"}, {"path", in_guest.string()}}).at("matches"),
            json::array({directory / "file.txt"}));
}

TEST_F(RealInstance, AllToolsWorkOnEachWritableMount) {
  for (const std::string name : {"writable", "mapped"}) {
    SCOPED_TRACE(name);
    const fs::path directory = NewDirectory(name);
    ExpectAllToolsWork(directory, machine().MountPoint(name) / directory.filename());
  }
}

TEST_F(RealInstance, ListsGlobsAndSearches) {
  const fs::path directory = NewDirectory("writable");
  fs::create_directories(directory / "source");
  WriteOnHost(directory / "source" / "main.cc", "int main() {\n  return 0;\n}\n");
  WriteOnHost(directory / "notes.txt", "return nothing\n");

  const json entries = Result("list_directory", {{"path", directory.string()}}).at("entries");
  ASSERT_EQ(entries.size(), 2U) << entries;
  EXPECT_EQ(entries[0].at("name"), "notes.txt");
  EXPECT_EQ(entries[0].at("size"), 15);
  EXPECT_EQ(entries[0].at("is_dir"), false);
  EXPECT_EQ(entries[1].at("name"), "source");
  EXPECT_EQ(entries[1].at("is_dir"), true);

  EXPECT_EQ(Result("glob", {{"pattern", "**/*.cc"}, {"path", directory.string()}}).at("matches"),
            json::array({directory / "source" / "main.cc"}));

  const std::string found =
      Result("search_file_content", {{"pattern", "^\\s+return"}, {"path", directory.string()}})
          .at("git_grep_output");
  EXPECT_EQ(found, "source/main.cc:2:  return 0;\n");
}

TEST_F(RealInstance, RefusesPathsOutsideTheMounts) {
  const std::string writable = machine().Mount("writable");
  for (const std::string& path :
       {std::string("/etc/passwd"), writable + "/../outside", writable + "-suffix/file"}) {
    EXPECT_THAT(Refusal("read_file", {{"path", path}}), HasSubstr(writable)) << path;
  }
}

TEST_F(RealInstance, RefusesALinkThatLeadsOutOfTheMounts) {
  const fs::path directory = NewDirectory("writable");
  Run({"ln", "-s", "/etc", "link"}, directory);
  Refusal("read_file", {{"path", directory / "link" / "hostname"}});
  Refusal("write_file", {{"path", directory / "link" / "new"}, {"content", "lost"}});
}

TEST(UnknownInstance, EndsWithTheListOfThoseThereAre) {
  ChildProcess::Options server;
  server.arguments = {"limactl", "mcp", "serve", "no-such-instance"};
  McpClient client(server);
  EXPECT_EQ(client.CloseAndWait(), 1);
  EXPECT_THAT(client.log(),
              AllOf(HasSubstr("no-such-instance"), HasSubstr(VirtualMachine().name())));
}

TEST(Plugin, IsThisProgramAndNotLimasOwn) {
  using testing_support::RunProcess;
  for (const auto& [asked, direct] :
       {std::pair<std::string, std::string>{"-v", "--version"}, {"info", "info"}}) {
    const auto plugin = RunProcess({.arguments = {"limactl", "mcp", asked}});
    EXPECT_EQ(plugin.exit_code, 0) << plugin.error;
    EXPECT_EQ(plugin.output, RunProcess({.arguments = {"limactl-mcp", direct}}).output);
  }
}

}  // namespace
}  // namespace vm
