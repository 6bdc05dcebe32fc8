#include "paths/path_texts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shell/shell_quote.h"
#include "support/paths.h"
#include "support/utf8.h"

namespace paths {
namespace {

const std::vector<Root>& Mounts(const PathRules::Options& options) {
  return options.mounts.empty() ? options.roots : options.mounts;
}

// The mount that a root is, or was cut out of; null for one that is no mount.
const Root* MountOf(const Root& root, const PathRules::Options& options) {
  const Root* best = nullptr;
  for (const Root& mount : Mounts(options)) {
    const auto below_host = support::PathBelow(root.host, mount.host);
    const auto below_guest = support::PathBelow(root.guest, mount.guest);
    if (!below_host || !below_guest || *below_host != *below_guest) continue;
    if (mount.is_guests_own) continue;
    if (best == nullptr || best->guest.size() < mount.guest.size()) best = &mount;
  }
  return best;
}

// What yq, to which limactl gives the value of --set, reads as it stands in a string of JSON.
bool IsText(const std::string& path) {
  return support::IsValidUtf8(path) &&
         std::none_of(path.begin(), path.end(),
                      [](unsigned char byte) { return byte < 0x20 || byte == 0x7F; });
}

const std::string& WrittenMountPoint(const Root& mount) {
  return mount.written_guest.empty() ? mount.guest : mount.written_guest;
}

std::string NameInBoth(const Root& mount) {
  return mount.host + (mount.guest == mount.host ? "" : " (at " + mount.guest + " in the guest)");
}

// Lima makes one mount of entries with the same mountPoint (compared as text, "/a/" is another):
// all that the first one says stays, but a later `writable` wins. So this needs not know how, or in
// which file, the mount is written.
std::string EditCommand(const Root& mount, const std::string& instance) {
  const nlohmann::json entry = {
      {"location", mount.host}, {"mountPoint", WrittenMountPoint(mount)}, {"writable", true}};
  return "limactl edit " + instance + " --start --set " +
         shell::ShellQuote(".mounts += [" + entry.dump() + "]");
}

}  // namespace

std::string ListRoots(const PathRules::Options& options) {
  if (options.roots.empty()) {
    const std::string instance = shell::ShellQuote(options.instance);
    return "none, as the instance mounts nothing. To mount a directory, the user runs `limactl "
           "stop " +
           instance + "`, then `limactl edit " + instance + " --start --mount DIRECTORY:w`";
  }
  std::string text;
  for (const Root& root : options.roots) {
    if (!text.empty()) text += ", ";
    text += root.host + (root.writable ? " (writable)" : " (read-only)");
  }
  return text;
}

std::string OutsideText(const std::string& path, const PathRules::Options& options) {
  return path + " is outside the directories that may be used: " + ListRoots(options);
}

std::string LeadsOutsideText(const std::string& path, const std::string& guest_path,
                             const PathRules::Options& options) {
  return path + " leads to " + guest_path +
         " in the guest, which is outside the directories that may be used: " + ListRoots(options);
}

std::string ReadOnlyText(const std::string& path, const Root& root,
                         const PathRules::Options& options) {
  const std::string problem = path + " is read-only: it lies in " + root.host +
                              " (read-only). The directories are: " + ListRoots(options) + ". ";
  const Root* mount = MountOf(root, options);
  if (mount == nullptr) {
    return problem + "To make it writable, the user starts the server with --allow-path " +
           shell::ShellQuote(root.guest + ":w") + ".";
  }
  if (mount->writable) {
    return problem + "The server was told to use it so.";
  }
  const std::string instance = shell::ShellQuote(options.instance);
  const std::string stop =
      "To make it writable, which leaves the other mounts as they are, the user runs `limactl "
      "stop " +
      instance + "`, then ";
  if (!IsText(mount->host) || !IsText(WrittenMountPoint(*mount))) {
    return problem + stop + "`limactl edit " + instance +
           " --start`, and sets `writable: true` for the location " + mount->host + ".";
  }
  return problem + stop + "`" + EditCommand(*mount, instance) + "`.";
}

std::string CoveredText(const std::string& path, const Root& mount, const std::string& other) {
  return path + " cannot be used: in the guest the mount of " + mount.host + " (at " + mount.guest +
         ") lies over it, so that other files are there. If those are meant, give " + other;
}

std::string NotMountedText(const std::string& path, const Root& mount,
                           const PathRules::Options& options) {
  const std::string instance = shell::ShellQuote(options.instance);
  return path + " cannot be used now: " + NameInBoth(mount) +
         " is a mount of the instance, but it is not mounted in the guest, where only a "
         "directory of the guest's own may be in its place. Nothing was read or written. It works "
         "as soon as it is mounted; to get there, the user restarts the instance: `limactl stop " +
         instance + "`, then `limactl start " + instance + "`.";
}

std::string MissingText(const Root& mount) {
  return "This leaves out " + NameInBoth(mount) +
         ", a mount of the instance that is not mounted in the guest now; what was found in its "
         "place, if anything, is what lies beneath.";
}

std::string StaleText(const Root& mount, const PathRules::Options& options) {
  const std::string instance = shell::ShellQuote(options.instance);
  return "This may be out of date: the guest keeps what it has once read of " + mount.host +
         " and does not notice when the host changes it (a 9p mount with cache: fscache or loose), "
         "so that contents, sizes and times may be old. To change that, the user runs `limactl "
         "stop " +
         instance + "`, then `limactl edit " + instance +
         " --start`, and adds `9p: {cache: mmap}` to the mount of that location.";
}

}  // namespace paths
