// SPDX-License-Identifier: Apache-2.0
#include "paths/mount_check.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"
#include "support/paths.h"
#include "support/regex.h"

namespace paths {
namespace {

using guest::FileSystemStatus;

/// The kernel escapes space, tab, newline, backslash and '#' as three octal digits (mangle in
/// fs/proc_namespace.c).
std::string Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::optional<MountLine> ParseLine(const std::string& text) {
  std::istringstream words(text);
  MountLine line;
  std::string ignored;  // ids, device numbers, mount options, and propagation
  words >> ignored >> ignored >> ignored >> line.root >> line.mount_point;
  while (words >> ignored && ignored != "-") continue;
  words >> line.type >> line.source;
  line.root = Unescape(line.root);
  line.mount_point = Unescape(line.mount_point);
  line.source = Unescape(line.source);
  if (!line.mount_point.starts_with('/') || line.type.empty()) return std::nullopt;
  return line;
}

constexpr std::string_view kReverseSshfs = "fuse.sshfs";
constexpr std::string_view kMacVolume = "/Volumes/My Shared Files";

/// Uses a command and not SFTP: sftp-server returns this kernel file in small pieces, and the SFTP
/// client would assume that it always does.
constexpr int kNoTable = 3;
constexpr const char* kTableScript =
    "[ -r /proc/self/mountinfo ] || exit 3; exec cat /proc/self/mountinfo";

bool IsThisMachine(guest::Guest& guest, const support::Context& context) {
  constexpr const char* kBootIdFile = "/proc/sys/kernel/random/boot_id";
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
  if (line.type == kReverseSshfs) return true;
  if ((line.type != "9p" && line.type != "virtiofs") || line.root != "/") return false;
  return line.source == tag || support::Regex("mount[0-9]+").FullMatch(line.source);
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

std::vector<MountLine> ParseMountTable(const std::string& text) {
  std::vector<MountLine> table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (auto mount = ParseLine(line)) table.push_back(*std::move(mount));
  }
  return table;
}

const MountLine* FindMount(const std::vector<MountLine>& table, std::string_view path) {
  const auto line = std::find_if(table.rbegin(), table.rend(), [&](const MountLine& mount) {
    return support::PathBelow(path, mount.mount_point).has_value();
  });
  return line == table.rend() ? nullptr : &*line;
}

guest::Request MountCheck::StatusRequest(std::size_t mount) const {
  return guest::Request::StatFileSystem(mounts_[mount].mount_point);
}

MountState MountCheck::UpdateFrom(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                                  const support::Context& context) {
  if (const auto status = StatusIn(reply)) {
    const std::scoped_lock lock(mutex_);
    const Known& last = known_[mount];
    if (last.file_system && SameFileSystem(*status, *last.file_system)) return last.state;
  }
  return Recheck(mount, reply, ReadTable(guest, context), guest, context);
}

MountState MountCheck::Check(std::size_t mount, guest::Guest& guest,
                             const support::Context& context) {
  return UpdateFrom(mount, guest.Execute(StatusRequest(mount), context), guest, context);
}

void MountCheck::CheckAll(guest::Guest& guest, const support::Context& context) {
  if (mounts_.empty()) return;
  is_this_machine_ = IsThisMachine(guest, context);
  std::vector<guest::Request> requests;
  for (std::size_t i = 0; i < mounts_.size(); ++i) requests.push_back(StatusRequest(i));
  const std::vector<guest::Reply> replies = guest.RoundTrip(requests, context);
  const Table table = ReadTable(guest, context);
  for (std::size_t i = 0; i < mounts_.size(); ++i) {
    if (Recheck(i, replies[i], table, guest, context).mounted) continue;
    support::LogWarning(support::Format("{} is not mounted in the guest", mounts_[i].mount_point));
  }
}

MountState MountCheck::LastKnown(std::size_t mount) const {
  const std::scoped_lock lock(mutex_);
  return known_[mount].state;
}

MountCheck::Table MountCheck::ReadTable(guest::Guest& guest,
                                        const support::Context& context) const {
  if (is_mac_ || is_this_machine_) return std::nullopt;
  const guest::ScriptOutput script = guest::CaptureScript(guest, {kTableScript}, context);
  if (script.exit_status == kNoTable) {
    support::LogWarning("the guest has no /proc/self/mountinfo: its mounts are not checked");
    return std::nullopt;
  }
  if (script.exit_status != 0) {
    throw support::Error(
        "the guest's mount table (/proc/self/mountinfo) cannot be read, so it is unknown whether "
        "the mounts are there; check with limactl shell whether the guest's user can read it");
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
      state.may_vanish = line->type == kReverseSshfs;
    }
  } catch (const guest::FileError&) {
    // Missing or not accessible, so nothing is mounted there for this user.
  }
  return state;
}

MountState MountCheck::Recheck(std::size_t mount, const guest::Reply& reply, const Table& table,
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
