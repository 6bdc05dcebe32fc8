#include "vm/virtual_machine.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace vm {
namespace {

using testing_support::ProcessResult;

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
      directory_(std::filesystem::path(Required("LIMA_HOME")) / name_),
      fault_mark_(mounts_.parent_path() / (name_ + ".broken-by-a-test")) {}

std::filesystem::path VirtualMachine::Mount(const std::string& name) const {
  return mounts_ / name;
}

std::filesystem::path VirtualMachine::MountPoint(const std::string& name) const {
  return name == "mapped" ? std::filesystem::path("/mnt/mapped") : Mount(name);
}

ProcessResult VirtualMachine::TryShell(const std::string& script,
                                       std::chrono::seconds timeout) const {
  std::string host = "lima-" + name_;
  std::replace_if(
      host.begin(), host.end(), [](char c) { return c == '.' || c == '_'; }, '-');
  return testing_support::RunProcess(
      {.arguments = {"ssh", "-F", directory_ / "ssh.config", "-o", "ControlMaster=no", "-o",
                     "ControlPath=none", "-o", "ConnectTimeout=30", host, "sh"}},
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

std::filesystem::path VirtualMachine::QemuPidFile() const {
  return directory_ / "qemu.pid";
}

bool VirtualMachine::CanFreeze() const {
  return std::filesystem::exists(QemuPidFile());
}

void VirtualMachine::SignalQemu(int number) const {
  std::ifstream file(QemuPidFile());
  pid_t qemu = 0;
  // Anything else than one process would be a group, or everything this user has.
  if (!(file >> qemu) || qemu <= 1) {
    throw std::runtime_error("no process number in " + QemuPidFile().string());
  }
  if (::kill(qemu, number) != 0) {
    throw std::system_error(errno, std::generic_category(), "kill QEMU");
  }
}

void VirtualMachine::Freeze() const {
  SignalQemu(SIGSTOP);
}

void VirtualMachine::Thaw() const {
  SignalQemu(SIGCONT);
}

std::string VirtualMachine::BootId() const {
  return Shell("cat /proc/sys/kernel/random/boot_id");
}

bool VirtualMachine::RepairGuest() const {
  // Each step does nothing where nothing is broken.
  const std::string script =
      "exec sudo -n sh -e <<'END OF SCRIPT'\n"
      "[ ! -e /usr/bin/git.away ] || mv /usr/bin/git.away /usr/bin/git\n"
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
  } catch (const std::runtime_error&) {  // no answer in time
    return false;
  }
}

void VirtualMachine::AnnounceFault() const {
  if (!std::ofstream(fault_mark_)) {
    throw std::runtime_error("cannot write " + fault_mark_.string());
  }
}

void VirtualMachine::Repair() const {
  if (!std::filesystem::exists(fault_mark_)) return;
  if (CanFreeze()) Thaw();
  bool repaired = false;
  // Where sshd has just been killed, the first tries may come too early.
  const auto deadline = std::chrono::steady_clock::now() + kGuestTimeout;
  while (Status() == "Running" && std::chrono::steady_clock::now() < deadline) {
    repaired = RepairGuest();
    if (repaired) break;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  if (!repaired) {
    if (Status() != "Stopped") Limactl({"stop", "--force", name_}, kBootTimeout);
    Start();
    if (!RepairGuest()) throw std::runtime_error("a restart did not mend the virtual machine");
  }
  std::filesystem::remove(fault_mark_);
}

}  // namespace vm
