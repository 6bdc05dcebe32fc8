#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/mcp_client.h"
#include "vm/virtual_machine.h"

/// The product as users start it, through `limactl mcp serve`, in a real Lima instance.
namespace vm {

std::string ReadOnHost(const std::filesystem::path& path);
void WriteOnHost(const std::filesystem::path& path, const std::string& text);

class VirtualMachineTest : public testing::Test {
 protected:
  /// A test that was killed may have left the machine broken.
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] const VirtualMachine& machine() const { return machine_; }

  /// A new directory below the host's side of the mount `name`, with a name that the guest has
  /// never looked up: caches of the mount cannot know it. Removed after the test.
  std::filesystem::path NewDirectory(const std::string& name);

  /// Starts one more server, `limactl mcp serve NAME options…`; the calls below go to it.
  testing_support::McpClient& Serve(const std::vector<std::string>& options = {});
  testing_support::McpClient& client() { return *clients_.back(); }
  /// What that server tells an agent beforehand.
  [[nodiscard]] const std::string& instructions() const { return instructions_; }

  nlohmann::json Call(const std::string& tool, const nlohmann::json& arguments);
  /// The structured result of a call that must succeed.
  nlohmann::json Result(const std::string& tool, const nlohmann::json& arguments);
  /// The error text of a call that must fail.
  std::string Refusal(const std::string& tool, const nlohmann::json& arguments);

  nlohmann::json Run(const std::vector<std::string>& command,
                     const std::filesystem::path& directory);
  std::string Read(const std::filesystem::path& path);
  void Write(const std::filesystem::path& path, const std::string& text);

  /// One call of each tool but `replace` on `directory`, which exists and has a file file.txt.
  struct ToolCall {
    std::string tool;
    nlohmann::json arguments;
  };
  [[nodiscard]] static std::vector<ToolCall> AllTools(const std::filesystem::path& directory);

  /// Every tool works on `directory`, a new one on a writable mount that is `in_guest` there.
  void ExpectAllToolsWork(const std::filesystem::path& directory,
                          const std::filesystem::path& in_guest);

  /// `ping` and `tools/list` never wait for the guest.
  void ExpectAnswersAtOnce();

  /// Waits, no longer than a boot takes, until `condition` holds; throws when it never does.
  static void Eventually(const std::string& what, const std::function<bool()>& condition);

 private:
  VirtualMachine machine_;
  std::vector<std::filesystem::path> directories_;
  std::vector<std::unique_ptr<testing_support::McpClient>> clients_;
  std::string instructions_;
};

/// Breaks the machine, and mends it.
class FaultTest : public VirtualMachineTest {
 protected:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace vm
