#include "paths/mount_check.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string_view>

#include "paths/mount_table.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"

namespace paths {
namespace {

using guest::FileSystemStatus;

constexpr MountState kNotMounted{.mounted = false, .reads_may_be_stale = false};
constexpr std::string_view kMacVolume = "/Volumes/My Shared Files";

constexpr int kNoTable = 3;  // exit status of the script
constexpr const char* kTableScript =
    "[ -r /proc/self/mountinfo ] || exit 3; cat /proc/self/mountinfo";

/// Empty if the guest has no mount table. A command reads it: sftp-server returns the kernel's file
/// in small pieces, from which the SFTP client would conclude that the server does so always.
std::optional<MountTable> ReadTable(guest::Guest& guest, const support::Context& context) {
  const guest::ScriptOutput answer = guest::CaptureScript(guest, kTableScript, context);
  if (answer.exit_status == kNoTable) return std::nullopt;
  if (answer.exit_status != 0) {
    throw support::CallError(
        "the guest's mount table (/proc/self/mountinfo) cannot be read, so it is unknown whether "
        "the mounts are there; log in with limactl shell and look at that file");
  }
  return MountTable::Parse(answer.output);
}

bool IsNumberedTag(std::string_view tag) {
  constexpr std::string_view kPrefix = "mount";
  if (!tag.starts_with(kPrefix)) return false;
  tag.remove_prefix(kPrefix.size());
  return !tag.empty() &&
         std::all_of(tag.begin(), tag.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool IsLimaMount(const MountLine& line, const std::string& tag) {
  if (line.type == "fuse.sshfs") return true;
  if (line.type != "9p" && line.type != "virtiofs") return false;
  return line.root == "/" && (line.source == tag || IsNumberedTag(line.source));
}

/// Free space changes with every write, the number of blocks on some file systems too. So blocks
/// count only if the file system has no identity (FUSE).
bool SameFileSystem(const FileSystemStatus& a, const FileSystemStatus& b) {
  return a.id == b.id && a.block_size == b.block_size && a.maximum_name == b.maximum_name &&
         a.read_only == b.read_only && (a.id != 0 || a.blocks == b.blocks);
}

/// Empty if the request failed: statvfs is not offered, nothing is there, or a reverse-sshfs mount
/// is dead.
std::optional<FileSystemStatus> StatusIn(guest::Reply& reply) {
  if (reply.failure) return std::nullopt;
  return reply.As<FileSystemStatus>();
}

MountState StateIn(const MountTable& table, const MountWatch::Expected& mount, guest::Guest& guest,
                   const support::Context& context) {
  try {
    const std::string path = guest.RealPath(mount.mount_point, context);
    const MountLine* line = table.At(path);
    if (line != nullptr && line->mount_point == path && IsLimaMount(*line, mount.tag)) {
      return {.mounted = true, .reads_may_be_stale = HasStaleCache(*line)};
    }
  } catch (const guest::FileError&) {
    // Missing or not accessible: for this user nothing is mounted there.
  }
  return kNotMounted;
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string BootIdHere() {
  std::ifstream file(kBootIdFile);
  std::string id;
  std::getline(file, id);
  return id;
}

bool IsThisMachine(guest::Guest& guest, const support::Context& context) {
  constexpr std::size_t kLongest = 128;
  const std::string here = BootIdHere();
  if (here.empty()) return false;
  try {
    return FirstLine(guest.Open(kBootIdFile, guest::OpenMode::kRead, 0, context)
                         ->Read(0, kLongest, context)) == here;
  } catch (const guest::FileError&) {
    return false;
  }
}

/// Checks the mounts of a macOS guest: a mount point is a link to "/Volumes/My Shared Files/TAG",
/// which is a directory while it is mounted. Judge costs one round trip.
class MacMountCheck final : public MountCheck {
 public:
  explicit MacMountCheck(std::vector<MountWatch::Expected> mounts) : mounts_(std::move(mounts)) {}

  [[nodiscard]] guest::Request Question(std::size_t mount) const override {
    return guest::request::RealPath{mounts_[mount].mount_point};
  }

  MountState Judge(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                   const support::Context& context) override {
    const std::string shared = support::JoinPath(kMacVolume, mounts_[mount].tag);
    if (reply.failure || reply.As<std::string>() != shared) return kNotMounted;
    try {
      const bool mounted = guest.LStat(shared, context).type == guest::FileType::kDirectory;
      return {.mounted = mounted, .reads_may_be_stale = false};
    } catch (const guest::FileError&) {
      return kNotMounted;
    }
  }

  [[nodiscard]] MountState LastKnown(std::size_t) const override { return kNotMounted; }

 private:
  const std::vector<MountWatch::Expected> mounts_;
};

}  // namespace

guest::Request MountWatch::Question(std::size_t mount) const {
  return guest::request::StatFileSystem{mounts_[mount].mount_point};
}

MountState MountWatch::Judge(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                             const support::Context& context) {
  if (is_this_machine_) return {};
  const std::optional<FileSystemStatus> now = StatusIn(reply);
  {
    const std::scoped_lock lock(mutex_);
    const Known& last = known_[mount];
    if (now && last.file_system && SameFileSystem(*now, *last.file_system)) return last.state;
  }
  const MountTable table = ReadTable(guest, context).value_or(MountTable());
  Known known;
  known.state = StateIn(table, mounts_[mount], guest, context);
  if (known.state.mounted && now) {
    // Remember the file system only if it did not change while the table was read.
    const auto after = StatusIn(guest.RoundTrip({Question(mount)}, context).front());
    if (after && SameFileSystem(*now, *after)) known.file_system = after;
  }
  const std::scoped_lock lock(mutex_);
  known_[mount] = known;
  return known.state;
}

MountState MountWatch::LastKnown(std::size_t mount) const {
  if (is_this_machine_) return {};
  const std::scoped_lock lock(mutex_);
  return known_[mount].state;
}

std::shared_ptr<MountCheck> MakeMountCheck(const lima::InstanceConfiguration& configuration,
                                           const std::vector<lima::Mount>& mounts,
                                           guest::Guest& guest, const support::Context& context) {
  if (mounts.empty()) return nullptr;
  std::vector<MountWatch::Expected> expected;
  for (const lima::Mount& mount : mounts) {
    expected.push_back({mount.mount_point, lima::MountTag(mount)});
  }
  if (IsThisMachine(guest, context)) {
    return std::make_shared<MountWatch>(std::move(expected), /*is_this_machine=*/true);
  }
  if (configuration.os == "Darwin") return std::make_shared<MacMountCheck>(std::move(expected));
  const auto watch = std::make_shared<MountWatch>(expected);
  try {
    if (!ReadTable(guest, context)) {
      support::LogWarning(
          "the guest has no /proc/self/mountinfo: whether its mounts are there is not checked");
      return nullptr;
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (watch->Ask(i, guest, context).mounted) continue;
      support::LogWarning(expected[i].mount_point + " is not mounted in the guest");
    }
  } catch (const support::ConnectionLost&) {
    throw;
  } catch (const support::Stopped&) {
    throw;
  } catch (const support::CallError& error) {
    support::LogWarning(error.what());  // each call asks again, and reports the error
  }
  return watch;
}

}  // namespace paths
