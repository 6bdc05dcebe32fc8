// Every tool in a real virtual machine that works. What needs no real mounts is tested in
// tests/integration.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

class RealInstance : public VirtualMachineTest {
 protected:
  void SetUp() override {
    VirtualMachineTest::SetUp();
    Serve();
  }
};

TEST_F(RealInstance, AllToolsWorkOnEachWritableMount) {
  for (const std::string name : {"writable", "mapped"}) {
    SCOPED_TRACE(name);
    const fs::path directory = NewDirectory(name);
    EXPECT_EQ(Run({"uname", "-n"}, directory).at("stdout"), "lima-" + machine().name() + "\n");
    ExpectAllToolsWork(directory, machine().MountPoint(name) / directory.filename());
  }
}

TEST_F(RealInstance, DoctorWarnsOfTheReadOnlyMountAndOfForwardedPortsOnly) {
  const testing_support::ProcessResult result = testing_support::RunProcess(
      {.arguments = {"limactl", "mcp", "doctor", "--json", machine().name()}}, "", kBootTimeout);
  const json report = json::parse(result.output);
  EXPECT_EQ(result.exit_code, 0) << report.dump(2);
  for (const json& check : report.at("checks")) {
    const std::string name = check.at("name");
    const bool is_mount = name == "mounts";
    // The instance forwards ports, as Lima's default does.
    const bool warns = is_mount || name == "exposure";
    EXPECT_EQ(check.at("result"), warns ? "warning" : "passed") << check;
    const std::string text = check.at("text");
    EXPECT_TRUE(!is_mount || text.ends_with(": " + machine().Mount("read-only").string())) << text;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(machine().Mount("writable"))) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".limactl-mcp-")) << entry.path();
  }
}

TEST_F(RealInstance, ReadsWhatTheHostChanged) {
  for (const std::string name : {"writable", "read-only"}) {
    SCOPED_TRACE(name);
    const fs::path file = NewDirectory(name) / "file.txt";
    for (const std::string text : {"before", "after!", "after, and longer", "", "shorter"}) {
      WriteFile(file, text);
      EXPECT_EQ(Read(file), text);
    }
  }
}

TEST_F(RealInstance, InstructionsNameRootsWithACacheThatIsNeverRefreshed) {
  const std::string root = machine().MountPoint("read-only");
  if (machine().TryShell("grep ' " + root + " 9p ' /proc/mounts | grep -q fscache").exit_code !=
      0) {
    GTEST_SKIP() << "this guest's read-only mounts have no such cache";
  }
  EXPECT_THAT(instructions(), ContainsRegex(machine().Mount("read-only").string() +
                                            " [^\n]*may show old contents"));
}

TEST_F(RealInstance, ReadsButDoesNotWriteAReadOnlyMount) {
  const fs::path directory = NewDirectory("read-only");
  WriteFile(directory / "file.txt", "kept");
  EXPECT_EQ(Read(directory / "file.txt"), "kept");
  for (const char* name : {"file.txt", "new.txt"}) {
    EXPECT_THAT(Refusal("write_file", {{"path", directory / name}, {"content", "lost"}}),
                HasSubstr("read-only"));
  }
  EXPECT_EQ(ReadFile(directory / "file.txt"), "kept");
  EXPECT_FALSE(fs::exists(directory / "new.txt"));
}

TEST_F(RealInstance, TranslatesAMountPointThatDiffersFromTheLocation) {
  const fs::path directory = NewDirectory("mapped");
  const fs::path in_guest = fs::path("/mnt/mapped") / directory.filename();
  Write(directory / "file.txt", "same file");
  EXPECT_EQ(Run({"cat", in_guest / "file.txt"}, directory).at("stdout"), "same file");
  EXPECT_EQ(Read(in_guest / "file.txt"), "same file");
  EXPECT_EQ(Result("glob", {{"pattern", "*.txt"}, {"path", in_guest.string()}}).at("matches"),
            json::array({directory / "file.txt"}));
}

}  // namespace
}  // namespace vm
