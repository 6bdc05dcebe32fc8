#include "doctor/mount_checks.h"

#include <filesystem>
#include <system_error>

#include "files/temporary_file.h"
#include "guest/file_error.h"
#include "paths/mount_watch.h"

namespace doctor {
namespace {

constexpr std::uint32_t kOwnerOnly = 0600;

void Append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

std::string EditAndRestart(const std::string& instance) {
  return "limactl stop " + instance + ", then limactl edit " + instance + " --start";
}

bool IsDirectoryHere(const std::string& path) {
  std::error_code missing;
  return std::filesystem::is_directory(path, missing);
}

/// Also when it is a link to nothing, or something else than a directory.
bool IsTakenHere(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(std::filesystem::symlink_status(path, unknown));
}

std::string StaleAdvice(const std::string& instance) {
  return "set 9p: {cache: mmap} at these mounts: " + EditAndRestart(instance);
}

/// Empty when it worked.
std::string TryToWrite(const std::string& directory, guest::Guest& guest,
                       const support::Context& context) {
  try {
    files::TemporaryFile file(directory, kOwnerOnly, guest, context);
    file.WriteAndClose("limactl mcp doctor\n", std::nullopt);
    file.Remove();
  } catch (const guest::FileError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

Finding CheckMounts(const std::vector<lima::MountLocation>& mounts, const std::string& instance,
                    bool is_running) {
  if (mounts.empty()) {
    return Warning("the instance mounts nothing: the agent's file tools can use no directory",
                   "add the project to its mounts: limactl stop " + instance +
                       ", then limactl edit " + instance + " --mount \"$PWD:w\" --start");
  }
  std::string list;
  std::string missing;
  std::string stale;
  bool can_be_made = !is_running;
  for (const lima::MountLocation& mount : mounts) {
    std::string shown = mount.location + (mount.writable ? " (writable)" : " (read-only)");
    if (mount.mount_point && *mount.mount_point != mount.location) {
      shown += " at " + *mount.mount_point;
    }
    Append(list, shown);
    if (!IsDirectoryHere(mount.location)) {
      Append(missing, mount.location);
      can_be_made = can_be_made && !IsTakenHere(mount.location);
    }
    if (mount.reads_may_be_stale) Append(stale, mount.location);
  }
  if (!missing.empty()) {
    const std::string text = list + "; no directory on this host: " + missing;
    if (can_be_made) return Warning(text, "limactl start " + instance + " makes it, empty");
    return Failed(text, "make it, or change the mounts: " + EditAndRestart(instance));
  }
  if (!stale.empty()) {
    return Warning(list + "; may show the guest old contents (9p with cache fscache): " + stale,
                   StaleAdvice(instance));
  }
  return Passed(list);
}

bool IsThere(const MountedState& mounted, std::size_t mount) {
  return mount >= mounted.states.size() || mounted.states[mount].mounted;
}

MountedState AskMounted(const lima::InstanceConfiguration& configuration,
                        const std::vector<lima::Mount>& mounts, guest::Guest& guest,
                        const support::Context& context) {
  if (mounts.empty()) return {{}, "there are no mounts"};
  if (paths::IsThisMachine(guest, context)) {
    return {{}, "not asked: the guest is this very machine"};
  }
  MountedState mounted;
  const auto expected = paths::ExpectedMounts(mounts);
  if (configuration.os == "Darwin") {
    paths::MacMountCheck check(expected);
    for (std::size_t i = 0; i < mounts.size(); ++i) {
      mounted.states.push_back(check.Ask(i, guest, context));
    }
    return mounted;
  }
  paths::MountWatch watch(expected);
  if (!watch.AskForAll(guest, context)) return {{}, "not known: the guest has no mountinfo"};
  for (std::size_t i = 0; i < mounts.size(); ++i) mounted.states.push_back(watch.LastKnown(i));
  return mounted;
}

Finding CheckMounted(const std::vector<lima::Mount>& mounts, const MountedState& mounted,
                     const std::string& instance) {
  if (mounted.states.size() != mounts.size() || mounts.empty()) return Passed(mounted.why);
  std::string missing;
  std::string stale;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    if (!mounted.states[i].mounted) Append(missing, mounts[i].mount_point);
    if (mounted.states[i].reads_may_be_stale) Append(stale, mounts[i].mount_point);
  }
  if (!missing.empty()) {
    return Failed("not mounted in the guest: " + missing,
                  "limactl stop " + instance + " && limactl start " + instance);
  }
  if (!stale.empty()) {
    return Warning("mounted, but the guest does not notice what the host changes in: " + stale,
                   StaleAdvice(instance));
  }
  return Passed("all " + std::to_string(mounts.size()) + " of them");
}

Finding CheckWriteAccess(const std::vector<lima::Mount>& mounts, const MountedState& mounted,
                         guest::Guest& guest, const support::Context& context) {
  std::string written;
  std::string problems;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    if (!mounts[i].writable || !IsThere(mounted, i)) continue;
    const std::string problem = TryToWrite(mounts[i].mount_point, guest, context);
    if (problem.empty()) {
      Append(written, mounts[i].location);
    } else {
      problems += (problems.empty() ? "" : "; ") + mounts[i].location + ": " + problem;
    }
  }
  if (!problems.empty()) {
    return Failed(problems,
                  "let the guest's user write there (owner and mode on the host, room "
                  "on the disk), or make the mount read-only");
  }
  if (written.empty()) {
    return Warning("no writable mount is there: the agent can only read",
                   "mount the project with `writable: true`");
  }
  return Passed("a file was made and removed in " + written);
}

}  // namespace doctor
