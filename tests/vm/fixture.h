#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/child_process.h"
#include "testing/files.h"
#include "testing/mcp_client.h"

/// The product as users start it, through `limactl mcp serve`, in a real Lima instance.
namespace vm {

using testing_support::CallsOfEveryTool;
using testing_support::ReadFile;
using testing_support::WriteFile;

/// The guest's processor may be emulated on a busy machine. A login alone then takes seconds.
inline constexpr std::chrono::seconds kGuestTimeout{120};

/// A boot takes one to three minutes, and many more on a busy machine.
inline constexpr std::chrono::minutes kBootTimeout{20};

/// The Lima instance that tests/vm/run has started and described in the environment. Breaks it,
/// looks into it, and repairs it, with limactl and ssh alone: nothing of the product is used, and
/// no connection that a fault could break. Errors are std::runtime_error.
class VirtualMachine {
 public:
  VirtualMachine();

  [[nodiscard]] const std::string& name() const { return name_; }

  /// The host's side of the mount `name`: writable, read-only or mapped.
  [[nodiscard]] std::filesystem::path Mount(const std::string& name) const;

  /// Where the guest has that mount.
  [[nodiscard]] std::filesystem::path MountPoint(const std::string& name) const;

  /// Runs a shell script in the guest as Lima's user, over a connection of its own.
  [[nodiscard]] testing_support::ProcessResult TryShell(
      const std::string& script, std::chrono::seconds timeout = kGuestTimeout) const;

  /// The output of a script that must succeed; the second as the guest's root.
  std::string Shell(const std::string& script) const;
  std::string ShellAsRoot(const std::string& script) const;

  /// As Lima's list shows it: Running, Stopped, Broken.
  [[nodiscard]] std::string Status() const;
  void Stop() const;
  void Start() const;

  /// SIGSTOP and SIGCONT for QEMU freeze and thaw the guest. Only if it runs in QEMU.
  [[nodiscard]] bool IsQemu() const;
  void SignalQemu(int number) const;

  /// Notes that the machine is about to be broken, in case this test is killed before it can
  /// repair it.
  void AnnounceFault() const;

  /// Undoes what these tests do to the machine, by a restart if need be. Does nothing if no fault
  /// was announced since the last time.
  void Repair() const;

 private:
  std::string Limactl(const std::vector<std::string>& arguments,
                      std::chrono::seconds timeout) const;
  [[nodiscard]] bool RepairGuest() const;

  std::string name_;
  std::filesystem::path mounts_;
  std::filesystem::path directory_;
  std::filesystem::path qemu_pid_file_;
  std::filesystem::path fault_mark_;
};

class VirtualMachineTest : public testing::Test {
 protected:
  /// Repairs a machine that a killed test left broken.
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] const VirtualMachine& machine() const { return machine_; }

  /// A new directory on the host in the mount `name`, removed after the test. The guest has never
  /// looked up its name, so caches of the mount do not know it.
  std::filesystem::path NewDirectory(const std::string& name);

  /// Starts another server, `limactl mcp serve INSTANCE options…`. The calls below go to it. The
  /// default instance is the machine's.
  testing_support::McpClient& Serve(const std::vector<std::string>& options = {},
                                    const std::string& instance = "");
  testing_support::McpClient& client() { return *clients_.back(); }
  /// The instructions of that server.
  [[nodiscard]] const std::string& instructions() const { return instructions_; }

  /// Sends a call of run_shell_command with a bash script; returns its id.
  std::int64_t BeginCommand(const std::string& script, const std::filesystem::path& directory);
  nlohmann::json Call(const std::string& tool, const nlohmann::json& arguments);
  /// The structured result of a call that must succeed.
  nlohmann::json Result(const std::string& tool, const nlohmann::json& arguments);
  /// The error text of a call that must fail.
  std::string Refusal(const std::string& tool, const nlohmann::json& arguments);

  nlohmann::json Run(const std::vector<std::string>& command,
                     const std::filesystem::path& directory);
  std::string Read(const std::filesystem::path& path);
  void Write(const std::filesystem::path& path, const std::string& text);

  /// Every tool works on `directory`, a new one in a writable mount. The guest has it at
  /// `in_guest`.
  void ExpectAllToolsWork(const std::filesystem::path& directory,
                          const std::filesystem::path& in_guest);

  /// `ping` and `tools/list` never wait for the guest.
  void ExpectAnswersAtOnce();

  /// Waits until `condition` holds. Throws when that takes longer than a boot.
  static void Eventually(const std::string& what, const std::function<bool()>& condition);

 private:
  VirtualMachine machine_;
  std::vector<std::filesystem::path> directories_;
  std::vector<std::unique_ptr<testing_support::McpClient>> clients_;
  std::string instructions_;
};

/// A test that breaks the machine. Repairs it afterwards.
class FaultTest : public VirtualMachineTest {
 protected:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace vm
