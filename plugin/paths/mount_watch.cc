#include "paths/mount_watch.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string_view>

#include "paths/script_answer.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"

namespace paths {
namespace {

using guest::FileSystemStatus;
using paths::MountState;

constexpr std::string_view kMacVolume = "/Volumes/My Shared Files";

constexpr int kNoTable = 3;  // exit status of the script
constexpr const char* kTableScript =
    "[ -r /proc/self/mountinfo ] || exit 3; cat /proc/self/mountinfo";

/// Empty where the guest's system has no such table.
std::optional<MountTable> ReadTable(guest::Guest& guest, const support::Context& context) {
  const ScriptAnswer answer = AskScript(guest, kTableScript, context);
  if (answer.exit_status == kNoTable) return std::nullopt;
  if (answer.exit_status != 0) {
    throw support::CallError(
        "the guest's table of mounts (/proc/self/mountinfo) cannot be read, so that nobody knows "
        "whether the mounts are there; log in with limactl shell to see what is wrong");
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

/// Free space changes with every write. The number of blocks does on some file systems too, and
/// counts only where the file system has no identity of its own (FUSE).
bool SameFileSystem(const FileSystemStatus& a, const FileSystemStatus& b) {
  return a.id == b.id && a.block_size == b.block_size && a.maximum_name == b.maximum_name &&
         a.read_only == b.read_only && (a.id != 0 || a.blocks == b.blocks);
}

std::optional<std::string> RealPath(const std::string& path, guest::Guest& guest,
                                    const support::Context& context) {
  try {
    return guest.RealPath(path, context);
  } catch (const guest::FileError&) {
    return std::nullopt;  // not there, or not to be looked at: nothing is mounted for this user
  }
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

}  // namespace

std::optional<FileSystemStatus> MountWatch::FileSystem(std::size_t mount, guest::Guest& guest,
                                                       const support::Context& context) const {
  try {
    return guest.StatFileSystem(mounts_[mount].mount_point, context);
  } catch (const guest::FileError&) {
    return std::nullopt;
  }
}

MountState MountWatch::StateOf(std::size_t mount, const MountTable& table, guest::Guest& guest,
                               const support::Context& context) const {
  const auto path = RealPath(mounts_[mount].mount_point, guest, context);
  const MountLine* line = path ? table.At(*path) : nullptr;
  if (line == nullptr || line->mount_point != *path || !IsLimaMount(*line, mounts_[mount].tag)) {
    return {.mounted = false, .reads_may_be_stale = false};
  }
  return {.mounted = true, .reads_may_be_stale = HasStaleCache(*line)};
}

MountState MountWatch::Examine(std::size_t mount, const MountTable& table,
                               const std::optional<FileSystemStatus>& before, guest::Guest& guest,
                               const support::Context& context) {
  Known known;
  known.state = StateOf(mount, table, guest, context);
  if (known.state.mounted && before) {
    // Only what was the same before and after the table was read belongs to what the table said.
    const auto after = FileSystem(mount, guest, context);
    if (after && SameFileSystem(*before, *after)) known.file_system = after;
  }
  const std::scoped_lock lock(mutex_);
  known_[mount] = known;
  return known.state;
}

guest::Request MountWatch::Question(std::size_t mount) const {
  return guest::ask::StatFileSystem{mounts_[mount].mount_point};
}

MountState MountWatch::Judge(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                             const support::Context& context) {
  // A failure: not offered, not there, or a dead reverse-sshfs. The table knows more.
  std::optional<FileSystemStatus> now;
  if (!reply.failure) now = reply.As<FileSystemStatus>();
  {
    const std::scoped_lock lock(mutex_);
    const Known& known = known_[mount];
    if (now && known.file_system && SameFileSystem(*now, *known.file_system)) return known.state;
  }
  const auto table = ReadTable(guest, context);
  return Examine(mount, table.value_or(MountTable()), now, guest, context);
}

MountState MountWatch::LastKnown(std::size_t mount) const {
  const std::scoped_lock lock(mutex_);
  return known_[mount].state;
}

bool MountWatch::AskForAll(guest::Guest& guest, const support::Context& context) {
  std::vector<std::optional<FileSystemStatus>> before;
  for (std::size_t i = 0; i < mounts_.size(); ++i) before.push_back(FileSystem(i, guest, context));
  const auto table = ReadTable(guest, context);
  if (!table) return false;
  for (std::size_t i = 0; i < mounts_.size(); ++i) Examine(i, *table, before[i], guest, context);
  return true;
}

guest::Request MacMountCheck::Question(std::size_t mount) const {
  return guest::ask::RealPath{mounts_[mount].mount_point};
}

MountState MacMountCheck::Judge(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                                const support::Context& context) {
  const std::string shared = support::JoinPath(kMacVolume, mounts_[mount].tag);
  MountState state{.mounted = false, .reads_may_be_stale = false};
  if (reply.failure || reply.As<std::string>() != shared) return state;
  try {
    state.mounted = guest.LStat(shared, context).type == guest::FileType::kDirectory;
  } catch (const guest::FileError&) {
    // the link leads to nothing
  }
  return state;
}

std::vector<MountWatch::Expected> ExpectedMounts(const std::vector<lima::Mount>& mounts) {
  std::vector<MountWatch::Expected> expected;
  expected.reserve(mounts.size());
  for (const lima::Mount& mount : mounts) {
    expected.push_back({mount.mount_point, lima::MountTag(mount)});
  }
  return expected;
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

std::shared_ptr<paths::MountCheck> MakeMountCheck(const lima::InstanceConfiguration& configuration,
                                                  const std::vector<lima::Mount>& mounts,
                                                  guest::Guest& guest,
                                                  const support::Context& context) {
  if (mounts.empty()) return nullptr;
  const std::vector<MountWatch::Expected> expected = ExpectedMounts(mounts);
  const auto watch = std::make_shared<MountWatch>(expected);
  try {
    if (IsThisMachine(guest, context)) return std::make_shared<NoMountsHere>(expected);
    if (configuration.os == "Darwin") return std::make_shared<MacMountCheck>(expected);
    if (watch->AskForAll(guest, context)) {
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (watch->LastKnown(i).mounted) continue;
        support::LogWarning(expected[i].mount_point + " is not mounted in the guest");
      }
      return watch;
    }
  } catch (const support::ConnectionLost&) {
    throw;
  } catch (const support::Stopped&) {
    throw;
  } catch (const support::CallError& error) {
    support::LogWarning(error.what());
    return watch;  // each call asks again, and says what is wrong
  }
  support::LogWarning(
      "the guest has no /proc/self/mountinfo: whether the instance's mounts are there is not "
      "checked");
  return nullptr;
}

}  // namespace paths
