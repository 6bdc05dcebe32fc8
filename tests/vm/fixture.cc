#include "vm/fixture.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::McpClient;
using testing_support::ProcessResult;
using testing_support::TextOf;

/// For calls that need no guest. They take milliseconds, more on a busy machine.
constexpr std::chrono::seconds kAtOnce{5};

constexpr std::chrono::milliseconds kPollInterval{500};

std::string Required(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) {
    throw std::runtime_error(std::string(variable) + " is not set; tests/vm/run sets it");
  }
  return value;
}

std::string WithoutLineEnd(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string Failure(const std::string& what, const ProcessResult& result) {
  return what + ": exit code " + std::to_string(result.exit_code) + ", " + result.output +
         result.error;
}

}  // namespace

VirtualMachine::VirtualMachine()
    : name_(Required("LIMACTL_MCP_VM_INSTANCE")),
      mounts_(Required("LIMACTL_MCP_VM_MOUNTS")),
      directory_(fs::path(Required("LIMA_HOME")) / name_),
      qemu_pid_file_(directory_ / "qemu.pid"),
      fault_mark_(mounts_.parent_path() / (name_ + ".broken-by-a-test")) {}

fs::path VirtualMachine::Mount(const std::string& name) const {
  return mounts_ / name;
}

fs::path VirtualMachine::MountPoint(const std::string& name) const {
  return name == "mapped" ? fs::path("/mnt/mapped") : Mount(name);
}

ProcessResult VirtualMachine::TryShell(const std::string& script,
                                       std::chrono::seconds timeout) const {
  std::string host = "lima-" + name_;
  std::replace_if(
      host.begin(), host.end(), [](char c) { return c == '.' || c == '_'; }, '-');
  return testing_support::RunProcess(
      {.arguments = {"ssh", "-F", directory_ / "ssh.config", "-o", "ControlMaster=no", "-o",
                     "ControlPath=none", "-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=10",
                     host, "sh"}},  // the guest may reboot
      script, timeout);
}

std::string VirtualMachine::Shell(const std::string& script) const {
  const ProcessResult result = TryShell(script);
  if (result.exit_code != 0) throw std::runtime_error(Failure("in the guest: " + script, result));
  return result.output;
}

std::string VirtualMachine::ShellAsRoot(const std::string& script) const {
  return Shell("exec sudo -n sh -e <<'END OF SCRIPT'\n" + script + "\nEND OF SCRIPT\n");
}

std::string VirtualMachine::Limactl(const std::vector<std::string>& arguments,
                                    std::chrono::seconds timeout) const {
  testing_support::ChildProcess::Options limactl;
  limactl.arguments = {"limactl", "--tty=false"};
  limactl.arguments.insert(limactl.arguments.end(), arguments.begin(), arguments.end());
  const ProcessResult result = testing_support::RunProcess(limactl, "", timeout);
  if (result.exit_code != 0) {
    throw std::runtime_error(Failure("limactl " + arguments.front(), result));
  }
  return result.output;
}

std::string VirtualMachine::Status() const {
  return WithoutLineEnd(Limactl({"list", "--format", "{{.Status}}", name_}, kGuestTimeout));
}

void VirtualMachine::Stop() const {
  Limactl({"stop", name_}, kBootTimeout);
}

void VirtualMachine::Start() const {
  const std::string seconds = std::to_string(std::chrono::seconds(kBootTimeout).count()) + "s";
  Limactl({"start", "--timeout=" + seconds, name_}, kBootTimeout + kGuestTimeout);
}

bool VirtualMachine::IsQemu() const {
  return fs::exists(qemu_pid_file_);
}

void VirtualMachine::SignalQemu(int number) const {
  std::ifstream file(qemu_pid_file_);
  pid_t qemu = 0;
  // Other numbers would name a process group, or all processes of this user.
  if (!(file >> qemu) || qemu <= 1) {
    throw std::runtime_error("no process number in " + qemu_pid_file_.string());
  }
  if (::kill(qemu, number) != 0) {
    throw std::system_error(errno, std::generic_category(), "kill QEMU");
  }
}

bool VirtualMachine::RepairGuest() const {
  // Each step does nothing if nothing is broken.
  const std::string script =
      "exec sudo -n sh -e <<'END OF SCRIPT'\n"
      "for directory in /mnt/limactl-mcp-*; do\n"
      "  ! mountpoint -q \"$directory\" || umount --lazy \"$directory\"\n"
      "  [ ! -d \"$directory\" ] || rmdir \"$directory\"\n"
      "done\n"
      "rm -f /var/tmp/limactl-mcp-*.img\n"
      "mount --all || true\n"
      "for directory in '" +
      MountPoint("writable").string() + "' '" + MountPoint("read-only").string() + "' '" +
      MountPoint("mapped").string() +
      "'; do mountpoint -q \"$directory\"; done\n"
      "END OF SCRIPT\n";
  try {
    return TryShell(script).exit_code == 0;
  } catch (const std::runtime_error&) {  // timed out
    return false;
  }
}

void VirtualMachine::AnnounceFault() const {
  if (!std::ofstream(fault_mark_)) {
    throw std::runtime_error("cannot write " + fault_mark_.string());
  }
}

void VirtualMachine::Repair() const {
  if (!fs::exists(fault_mark_)) return;
  if (IsQemu()) SignalQemu(SIGCONT);
  bool repaired = false;
  // sshd may just have been killed.
  const auto deadline = std::chrono::steady_clock::now() + kGuestTimeout;
  while (Status() == "Running" && std::chrono::steady_clock::now() < deadline) {
    repaired = RepairGuest();
    if (repaired) break;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  if (!repaired) {
    if (Status() != "Stopped") Limactl({"stop", "--force", name_}, kBootTimeout);
    Start();
    if (!RepairGuest()) throw std::runtime_error("a restart did not repair the virtual machine");
  }
  fs::remove(fault_mark_);
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

McpClient& VirtualMachineTest::Serve(const std::vector<std::string>& options,
                                     const std::string& instance) {
  testing_support::ChildProcess::Options server;
  server.arguments = {"limactl", "mcp", "serve", instance.empty() ? machine_.name() : instance};
  server.arguments.insert(server.arguments.end(), options.begin(), options.end());
  clients_.push_back(std::make_unique<McpClient>(server));
  instructions_ = client().Initialize().at("instructions");
  return client();
}

std::int64_t VirtualMachineTest::BeginCommand(const std::string& script,
                                              const fs::path& directory) {
  return client().BeginCall("run_shell_command", {{"command", {"bash", "-c", script}},
                                                  {"directory", directory.string()}});
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

void VirtualMachineTest::ExpectAllToolsWork(const fs::path& directory, const fs::path& in_guest) {
  const fs::path file = directory / "file.txt";
  Write(file, "some text\n");
  EXPECT_EQ(ReadFile(file), "some text\n");
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
  EXPECT_EQ(ReadFile(file), "other text\n");
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
