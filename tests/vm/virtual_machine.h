#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "testing/child_process.h"

namespace vm {

/// Instructions of the guest may all be translated, on a machine that does other things too: a
/// login alone then takes seconds.
inline constexpr std::chrono::seconds kGuestTimeout{120};

/// A boot takes one to three minutes; many more where tests share two processors.
inline constexpr std::chrono::minutes kBootTimeout{20};

/// The Lima instance that tests/vm/run has started and described in the environment, seen from
/// outside: to break it, to look into it, and to mend it. Uses limactl and ssh and nothing of the
/// product, and no connection that a fault could take along. Errors are std::runtime_error.
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

  /// Stops the guest's clock and processors, and lets them go on. Only where the driver is a
  /// process of its own (QEMU).
  [[nodiscard]] bool CanFreeze() const;
  void Freeze() const;
  void Thaw() const;

  /// Another one after each boot.
  [[nodiscard]] std::string BootId() const;

  /// Notes that the machine is about to be broken, so that the next test knows of it even where
  /// this one does not live to mend it.
  void AnnounceFault() const;

  /// Undoes whatever these tests do to the machine, and starts it again where that is not enough.
  /// Does nothing where no fault was announced since the last time.
  void Repair() const;

 private:
  [[nodiscard]] std::filesystem::path QemuPidFile() const;
  void SignalQemu(int number) const;
  std::string Limactl(const std::vector<std::string>& arguments,
                      std::chrono::seconds timeout) const;
  [[nodiscard]] bool RepairGuest() const;

  std::string name_;
  std::filesystem::path mounts_;
  std::filesystem::path directory_;
  std::filesystem::path fault_mark_;
};

}  // namespace vm
