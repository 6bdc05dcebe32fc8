#include "vm/fixture.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::McpClient;
using testing_support::TextOf;

/// What needs no guest takes milliseconds; this much on a machine that does ten other things.
constexpr std::chrono::seconds kAtOnce{5};

constexpr std::chrono::milliseconds kPollInterval{500};

}  // namespace

std::string ReadOnHost(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteOnHost(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void VirtualMachineTest::SetUp() {
  machine_.Repair();
}

void VirtualMachineTest::TearDown() {
  if (HasFailure()) {
    for (const auto& client : clients_) std::cerr << "a server's log:\n" << client->log() << "\n";
  }
  clients_.clear();
  for (const fs::path& directory : directories_) fs::remove_all(directory);
}

void FaultTest::SetUp() {
  VirtualMachineTest::SetUp();
  machine().AnnounceFault();
}

void FaultTest::TearDown() {
  VirtualMachineTest::TearDown();
  machine().Repair();
}

fs::path VirtualMachineTest::NewDirectory(const std::string& name) {
  std::string path = machine_.Mount(name) / "test.XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    throw std::runtime_error("cannot make a directory like " + path);
  }
  return directories_.emplace_back(path);
}

McpClient& VirtualMachineTest::Serve(const std::vector<std::string>& options) {
  testing_support::ChildProcess::Options server;
  server.arguments = {"limactl", "mcp", "serve", machine_.name()};
  server.arguments.insert(server.arguments.end(), options.begin(), options.end());
  clients_.push_back(std::make_unique<McpClient>(server));
  instructions_ = client().Initialize().at("instructions");
  return client();
}

json VirtualMachineTest::Call(const std::string& tool, const json& arguments) {
  return client().CallTool(tool, arguments, kGuestTimeout);
}

json VirtualMachineTest::Result(const std::string& tool, const json& arguments) {
  const json result = Call(tool, arguments);
  if (result.value("isError", false)) throw std::runtime_error(tool + ": " + TextOf(result));
  return result.at("structuredContent");
}

std::string VirtualMachineTest::Refusal(const std::string& tool, const json& arguments) {
  const json result = Call(tool, arguments);
  EXPECT_TRUE(result.value("isError", false)) << tool << " returned " << result.dump();
  return TextOf(result);
}

json VirtualMachineTest::Run(const std::vector<std::string>& command, const fs::path& directory) {
  return Result("run_shell_command", {{"command", command}, {"directory", directory.string()}});
}

std::string VirtualMachineTest::Read(const fs::path& path) {
  return Result("read_file", {{"path", path.string()}}).at("content");
}

void VirtualMachineTest::Write(const fs::path& path, const std::string& text) {
  Result("write_file", {{"path", path.string()}, {"content", text}});
}

std::vector<VirtualMachineTest::ToolCall> VirtualMachineTest::AllTools(const fs::path& directory) {
  const std::string file = directory / "file.txt";
  return {
      {"glob", {{"pattern", "*.txt"}, {"path", directory.string()}}},
      {"list_directory", {{"path", directory.string()}}},
      {"read_file", {{"path", file}}},
      {"run_shell_command", {{"command", {"touch", "touched"}}, {"directory", directory.string()}}},
      {"search_file_content", {{"pattern", "text"}, {"path", directory.string()}}},
      {"write_file", {{"path", file}, {"content", "new text\n"}}}};
}

void VirtualMachineTest::ExpectAllToolsWork(const fs::path& directory, const fs::path& in_guest) {
  const fs::path file = directory / "file.txt";
  Write(file, "some text\n");
  EXPECT_EQ(ReadOnHost(file), "some text\n");
  EXPECT_EQ(Read(file), "some text\n");
  EXPECT_EQ(Run({"pwd"}, directory).at("stdout"), in_guest.string() + "\n");
  EXPECT_EQ(Run({"cat", "file.txt"}, directory).at("stdout"), "some text\n");
  const json entries = Result("list_directory", {{"path", directory.string()}}).at("entries");
  ASSERT_EQ(entries.size(), 1U) << entries;
  EXPECT_EQ(entries[0].at("name"), "file.txt");
  EXPECT_EQ(entries[0].at("size"), 10);
  EXPECT_EQ(Result("glob", {{"pattern", "*.txt"}, {"path", directory.string()}}).at("matches"),
            json::array({file}));
  EXPECT_EQ(Result("search_file_content", {{"pattern", "text"}, {"path", directory.string()}})
                .at("git_grep_output"),
            "file.txt:1:some text\n");
  EXPECT_EQ(
      Result("replace", {{"path", file.string()}, {"old_string", "some"}, {"new_string", "other"}})
          .at("replacements"),
      1);
  EXPECT_EQ(ReadOnHost(file), "other text\n");
}

void VirtualMachineTest::ExpectAnswersAtOnce() {
  EXPECT_NO_THROW(client().Request("ping", json::object(), kAtOnce));
  const json tools = client().Request("tools/list", json::object(), kAtOnce);
  EXPECT_GE(tools.at("result").at("tools").size(), 6U);
}

void VirtualMachineTest::Eventually(const std::string& what,
                                    const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kBootTimeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("waited in vain until " + what);
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

}  // namespace vm
