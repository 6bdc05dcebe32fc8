#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "paths/mount_check.h"
#include "paths/mount_table.h"
#include "support/context.h"

/// Whether the mounts of lima.yaml are there in the guest. They need not be: Lima mounts with
/// `nofail`, and reverse-sshfs ends with its SSH connection. Beneath lies an ordinary directory.
namespace paths {

/// A mount is there when the file system that its mount point leads to (links followed, what lies
/// on top counts) begins at that very path and is one that Lima would have mounted there:
///   9p, virtiofs   by Lima's tag, or an older Lima's "mount" and a number
///   fuse.sshfs     whatever its source, which each version of sshfs words in its own way
///
/// How it is asked, per mount and call: the file system's identity and sizes (statvfs@openssh.com
/// on the mount point). While they are what they were, so is the mount; otherwise the guest's mount
/// table is read by a command: the table, realpath, statvfs. That a
/// mount is missing is never remembered, so that it works as soon as it is there. Where the guest's
/// server has no statvfs, the table is read each time.
///
/// The table comes from a command rather than from SFTP: both run in the namespace that sshd gave
/// the session, and reading a file of the kernel's in pieces would teach the SFTP client that the
/// server answers in small ones.
class MountWatch final : public paths::MountCheck {
 public:
  struct Expected {
    std::string mount_point;  ///< absolute and clean; may lead through links
    std::string tag;          ///< see lima::MountTag
  };

  explicit MountWatch(std::vector<Expected> mounts)
      : mounts_(std::move(mounts)), known_(mounts_.size()) {}

  [[nodiscard]] guest::Request Question(std::size_t mount) const override;
  paths::MountState Judge(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                          const support::Context& context) override;
  [[nodiscard]] paths::MountState LastKnown(std::size_t mount) const override;

  /// Asks for all of them, reading the table once; LastKnown has the answers. False where the
  /// guest's system has no such table.
  bool AskForAll(guest::Guest& guest, const support::Context& context);

 private:
  struct Known {
    std::optional<guest::FileSystemStatus> file_system;  ///< empty: to be asked anew
    paths::MountState state{.mounted = false, .reads_may_be_stale = false};
  };

  paths::MountState Examine(std::size_t mount, const MountTable& table,
                            const std::optional<guest::FileSystemStatus>& before,
                            guest::Guest& guest, const support::Context& context);
  [[nodiscard]] paths::MountState StateOf(std::size_t mount, const MountTable& table,
                                          guest::Guest& guest,
                                          const support::Context& context) const;
  [[nodiscard]] std::optional<guest::FileSystemStatus> FileSystem(
      std::size_t mount, guest::Guest& guest, const support::Context& context) const;

  const std::vector<Expected> mounts_;
  mutable std::mutex mutex_;  // guards what follows, never held while the guest is asked
  std::vector<Known> known_;
};

/// The same for a macOS guest, where a mount point is a link to "/Volumes/My Shared Files/TAG", a
/// directory while it is mounted. One round trip more each time.
class MacMountCheck final : public paths::MountCheck {
 public:
  explicit MacMountCheck(std::vector<MountWatch::Expected> mounts) : mounts_(std::move(mounts)) {}

  [[nodiscard]] guest::Request Question(std::size_t mount) const override;
  paths::MountState Judge(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                          const support::Context& context) override;
  [[nodiscard]] paths::MountState LastKnown(std::size_t) const override {
    return {.mounted = false, .reads_may_be_stale = false};
  }

 private:
  const std::vector<MountWatch::Expected> mounts_;
};

/// For a guest that is the machine this program runs on, where nothing is mounted: asks the same as
/// MountWatch, so that a call costs the same, and lets everything pass.
class NoMountsHere final : public paths::MountCheck {
 public:
  explicit NoMountsHere(std::vector<MountWatch::Expected> mounts) : mounts_(std::move(mounts)) {}

  [[nodiscard]] guest::Request Question(std::size_t mount) const override {
    return guest::ask::StatFileSystem{mounts_[mount].mount_point};
  }
  paths::MountState Judge(std::size_t, guest::Reply, guest::Guest&,
                          const support::Context&) override {
    return {};
  }
  [[nodiscard]] paths::MountState LastKnown(std::size_t) const override { return {}; }

 private:
  const std::vector<MountWatch::Expected> mounts_;
};

/// What is to be there in the guest of these mounts, in their order.
std::vector<MountWatch::Expected> ExpectedMounts(const std::vector<lima::Mount>& mounts);

/// Where the kernel tells which boot of which machine this is.
inline constexpr const char* kBootIdFile = "/proc/sys/kernel/random/boot_id";

/// Whether the guest is the machine that this program runs on, as behind a loopback sshd: nothing
/// is mounted there. Three round trips.
bool IsThisMachine(guest::Guest& guest, const support::Context& context);

/// The check for a guest that has just been connected to, having asked once for all `mounts`; null
/// where nothing is to be checked: there are no mounts, or the guest's system does not tell (the
/// log then says so).
std::shared_ptr<paths::MountCheck> MakeMountCheck(const lima::InstanceConfiguration& configuration,
                                                  const std::vector<lima::Mount>& mounts,
                                                  guest::Guest& guest,
                                                  const support::Context& context);

}  // namespace paths
