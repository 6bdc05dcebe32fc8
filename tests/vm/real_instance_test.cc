// The product through a real limactl in a real virtual machine. tests/vm/run starts this program as
// the instance's user, with LIMA_HOME and PATH set, and says in the environment where things are.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "testing/mcp_client.h"

namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::ChildProcess;
using testing_support::McpClient;
using testing_support::TextOf;

namespace fs = std::filesystem;

// Instructions of the guest may all be translated: a login shell alone then takes seconds.
constexpr std::chrono::seconds kGuestTimeout{120};

std::string Required(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) throw std::runtime_error(std::string(variable) + " is not set");
  return value;
}

std::string InstanceName() {
  return Required("LIMACTL_MCP_VM_INSTANCE");
}

void WriteOnHost(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string ReadOnHost(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One server for all tests, since each start costs several logins.
class RealInstance : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ChildProcess::Options server;
    server.arguments = {"limactl", "mcp", "serve", InstanceName()};
    client_ = std::make_unique<McpClient>(server);
    client_->Initialize();
  }

  static void TearDownTestSuite() {
    EXPECT_EQ(client_->CloseAndWait(), 0) << client_->log();
    client_.reset();
  }

  void TearDown() override {
    for (const fs::path& directory : directories_) fs::remove_all(directory);
  }

  /// A new directory below the host's side of the mount `name`, with a name that the guest has
  /// never looked up: caches of the mount cannot know it. Removed after the test.
  fs::path NewDirectory(const std::string& name) {
    std::string path = Required("LIMACTL_MCP_VM_MOUNTS") + "/" + name + "/test.XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      throw std::runtime_error("cannot make a directory like " + path);
    }
    return directories_.emplace_back(path);
  }

  static json Call(const std::string& tool, const json& arguments) {
    return client_->CallTool(tool, arguments, kGuestTimeout);
  }

  /// The structured result of a call that must succeed.
  static json Result(const std::string& tool, const json& arguments) {
    const json result = Call(tool, arguments);
    if (result.value("isError", false)) throw std::runtime_error(tool + ": " + TextOf(result));
    return result.at("structuredContent");
  }

  /// The error text of a call that must fail.
  static std::string Refusal(const std::string& tool, const json& arguments) {
    const json result = Call(tool, arguments);
    EXPECT_TRUE(result.value("isError", false)) << tool << " returned " << result.dump();
    return TextOf(result);
  }

  static json Run(const std::vector<std::string>& command, const fs::path& directory) {
    return Result("run_shell_command", {{"command", command}, {"directory", directory.string()}});
  }

  static std::unique_ptr<McpClient> client_;

 private:
  std::vector<fs::path> directories_;
};

std::unique_ptr<McpClient> RealInstance::client_;

TEST_F(RealInstance, RunsCommandsInTheGuestAndNotOnThisMachine) {
  const fs::path directory = NewDirectory("writable");
  const json result = Run({"uname", "-n"}, directory);
  EXPECT_EQ(result.at("stdout"), "lima-" + InstanceName() + "\n");
  EXPECT_EQ(result.at("exit_code"), 0);
  EXPECT_EQ(Run({"pwd"}, directory).at("stdout"), directory.string() + "\n");
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
  Result("write_file", {{"path", file.string()}, {"content", text}});
  EXPECT_EQ(ReadOnHost(file), text);
  EXPECT_EQ(Result("read_file", {{"path", file.string()}}).at("content"), text);

  Result("write_file", {{"path", file.string()}, {"content", "again"}});
  EXPECT_EQ(ReadOnHost(file), "again");
  EXPECT_EQ(Result("read_file", {{"path", file.string()}}).at("content"), "again");
}

TEST_F(RealInstance, ReadsWhatThisMachineChangedUnderAWritableMount) {
  const fs::path file = NewDirectory("writable") / "file.txt";
  WriteOnHost(file, "before");
  EXPECT_EQ(Result("read_file", {{"path", file.string()}}).at("content"), "before");
  WriteOnHost(file, "after, and longer");
  EXPECT_EQ(Result("read_file", {{"path", file.string()}}).at("content"), "after, and longer");
}

TEST_F(RealInstance, ReadsButDoesNotWriteAReadOnlyMount) {
  const fs::path directory = NewDirectory("read-only");
  WriteOnHost(directory / "file.txt", "kept");
  EXPECT_EQ(Result("read_file", {{"path", directory / "file.txt"}}).at("content"), "kept");
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
  Result("write_file", {{"path", directory / "file.txt"}, {"content", "same file"}});
  EXPECT_EQ(ReadOnHost(directory / "file.txt"), "same file");
  EXPECT_EQ(Run({"cat", in_guest / "file.txt"}, directory).at("stdout"), "same file");
  EXPECT_EQ(Result("read_file", {{"path", in_guest / "file.txt"}}).at("content"), "same file");
  EXPECT_EQ(Result("glob", {{"pattern", "*.txt"}, {"path", in_guest.string()}}).at("matches"),
            json::array({directory / "file.txt"}));
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
  const std::string writable = Required("LIMACTL_MCP_VM_MOUNTS") + "/writable";
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
  EXPECT_THAT(client.log(), AllOf(HasSubstr("no-such-instance"), HasSubstr(InstanceName())));
}

}  // namespace
