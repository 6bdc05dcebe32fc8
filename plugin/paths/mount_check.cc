#include "paths/mount_check.h"

#include <fstream>
#include <string_view>

#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"

namespace paths {
namespace {

using guest::FileSystemStatus;

constexpr std::string_view kReverseSshfs = "fuse.sshfs";
constexpr std::string_view kMacVolume = "/Volumes/My Shared Files";

/// Uses a command and not SFTP: sftp-server returns this kernel file in small pieces, and the SFTP
/// client would assume that it always does.
constexpr int kNoTable = 3;
constexpr const char* kTableScript =
    "[ -r /proc/self/mountinfo ] || exit 3; exec cat /proc/self/mountinfo";

bool IsThisMachine(guest::Guest& guest, const support::Context& context) {
  constexpr std::size_t kMaxId = 128;
  std::ifstream file(kBootIdFile);
  std::string id;
  if (!std::getline(file, id)) return false;
  try {
    return guest.Open(kBootIdFile, guest::OpenMode::kRead, 0, context)
        ->ReadSome(0, kMaxId, context)
        .starts_with(id);
  } catch (const guest::FileError&) {
    return false;
  }
}

bool IsLimaMount(const MountLine& line, const std::string& tag) {
  constexpr std::string_view kOldTag = "mount";
  if (line.type == kReverseSshfs) return true;
  if ((line.type != "9p" && line.type != "virtiofs") || line.root != "/") return false;
  return line.source == tag ||
         (line.source.starts_with(kOldTag) && line.source.size() > kOldTag.size() &&
          line.source.find_first_not_of("0123456789", kOldTag.size()) == std::string::npos);
}

/// Empty if the server has no statvfs, the path is missing, or a reverse-sshfs mount is dead.
std::optional<FileSystemStatus> StatusIn(const guest::Reply& reply) {
  if (reply.failure) return std::nullopt;
  return std::get<FileSystemStatus>(reply.value);
}

/// Ignores free space, which changes with every write. Compares the number of blocks only if f_fsid
/// is 0 (FUSE), because it changes on some file systems too.
bool SameFileSystem(const FileSystemStatus& a, const FileSystemStatus& b) {
  return a.id == b.id && a.block_size == b.block_size && a.maximum_name == b.maximum_name &&
         a.read_only == b.read_only && (a.id != 0 || a.blocks == b.blocks);
}

}  // namespace

guest::Request MountCheck::StatusRequest(std::size_t mount) const {
  return guest::Request::StatFileSystem(mounts_[mount].mount_point);
}

MountState MountCheck::Evaluate(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                                const support::Context& context) {
  if (const auto status = StatusIn(reply)) {
    const std::scoped_lock lock(mutex_);
    const Known& last = known_[mount];
    if (last.file_system && SameFileSystem(*status, *last.file_system)) return last.state;
  }
  return Update(mount, reply, ReadTable(guest, context), guest, context);
}

MountState MountCheck::Check(std::size_t mount, guest::Guest& guest,
                             const support::Context& context) {
  return Evaluate(mount, guest.Execute(StatusRequest(mount), context), guest, context);
}

void MountCheck::CheckAll(guest::Guest& guest, const support::Context& context) {
  if (mounts_.empty()) return;
  is_this_machine_ = IsThisMachine(guest, context);
  std::vector<guest::Request> requests;
  for (std::size_t i = 0; i < mounts_.size(); ++i) requests.push_back(StatusRequest(i));
  const std::vector<guest::Reply> replies = guest.RoundTrip(requests, context);
  const Table table = ReadTable(guest, context);
  for (std::size_t i = 0; i < mounts_.size(); ++i) {
    if (Update(i, replies[i], table, guest, context).mounted) continue;
    support::LogWarning(mounts_[i].mount_point + " is not mounted in the guest");
  }
}

MountState MountCheck::LastKnown(std::size_t mount) const {
  const std::scoped_lock lock(mutex_);
  return known_[mount].state;
}

MountCheck::Table MountCheck::ReadTable(guest::Guest& guest,
                                        const support::Context& context) const {
  if (is_mac_ || is_this_machine_) return std::nullopt;
  const guest::ScriptOutput script = guest::CaptureScript(guest, kTableScript, context);
  if (script.exit_status == kNoTable) {
    support::LogWarning("the guest has no /proc/self/mountinfo: its mounts are not checked");
    return std::nullopt;
  }
  if (script.exit_status != 0) {
    throw support::CallError(
        "the guest's mount table (/proc/self/mountinfo) cannot be read, so it is unknown whether "
        "the mounts are there; log in with limactl shell and check that file");
  }
  return ParseMountTable(script.output);
}

MountState MountCheck::Find(const lima::Mount& mount, const Table& table, guest::Guest& guest,
                            const support::Context& context) const {
  MountState state;
  state.mounted = !table && !is_mac_;
  if (state.mounted) return state;
  const std::string tag = lima::MountTag(mount);
  try {
    const std::string path = guest.RealPath(mount.mount_point, context);
    if (is_mac_) {
      state.mounted = path == support::JoinPath(kMacVolume, tag) &&
                      guest.LStat(path, context).type == guest::FileType::kDirectory;
    } else if (const MountLine* line = FindMount(*table, path)) {
      state.mounted = line->mount_point == path && IsLimaMount(*line, tag);
      state.reads_may_be_stale = state.mounted && HasStaleCache(*line);
      state.may_vanish = line->type == kReverseSshfs;
    }
  } catch (const guest::FileError&) {
    // Missing or not accessible, so nothing is mounted there for this user.
  }
  return state;
}

MountState MountCheck::Update(std::size_t mount, const guest::Reply& reply, const Table& table,
                              guest::Guest& guest, const support::Context& context) {
  Known known{std::nullopt, Find(mounts_[mount], table, guest, context)};
  if (const auto before = StatusIn(reply); known.state.mounted && before) {
    // Remember the file system only if it did not change while the table was read.
    const auto after = StatusIn(guest.Execute(StatusRequest(mount), context));
    if (after && SameFileSystem(*before, *after)) known.file_system = after;
  }
  const std::scoped_lock lock(mutex_);
  known_[mount] = known;
  return known.state;
}

}  // namespace paths
