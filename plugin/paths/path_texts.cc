#include "paths/path_texts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shell/shell_quote.h"
#include "support/paths.h"
#include "support/utf8.h"

namespace paths {
namespace {

/// The mount that a root is, or was narrowed from; null for the guest's own.
const Root* MountOf(const Root& root, const PathRules::Options& options) {
  if (root.is_guests_own) return nullptr;
  const std::string& mount_point = root.narrowed_from.empty() ? root.guest : root.narrowed_from;
  for (const Root& mount : options.mounts) {
    if (mount.guest == mount_point) return &mount;
  }
  return nullptr;
}

/// Whether yq, which reads the value of --set, takes the path unchanged from a JSON string.
bool IsPlainText(const std::string& path) {
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

/// Lima merges entries with the same mountPoint (compared as text: "/a/" is another one). The first
/// entry counts, but a later `writable` wins. So adding an entry works however the mount is
/// written.
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
  return path + " resolves to " + guest_path +
         " in the guest, outside the directories that may be used: " + ListRoots(options);
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
  const std::string instance = shell::ShellQuote(options.instance);
  const std::string stop =
      "To make it writable, the user runs `limactl stop " + instance + "`, then ";
  if (!IsPlainText(mount->host) || !IsPlainText(WrittenMountPoint(*mount))) {
    return problem + stop + "`limactl edit " + instance +
           " --start`, and sets `writable: true` for the location " + mount->host + ".";
  }
  return problem + stop + "`" + EditCommand(*mount, instance) + "`.";
}

std::string CoveredText(const std::string& path, const Root& mount, const std::string& other) {
  return path + " cannot be used: in the guest the mount of " + mount.host + " (at " + mount.guest +
         ") lies over it, so other files are there. If you mean those, give " + other;
}

std::string NotMountedText(const std::string& path, const Root& mount,
                           const PathRules::Options& options) {
  const std::string instance = shell::ShellQuote(options.instance);
  return path + " cannot be used now: " + NameInBoth(mount) +
         " is a mount of the instance, but it is not mounted in the guest. Nothing was read or "
         "written. To mount it, the user restarts the instance: `limactl stop " +
         instance + "`, then `limactl start " + instance + "`.";
}

std::string MissingText(const Root& mount) {
  return "This leaves out " + NameInBoth(mount) +
         ", a mount of the instance that is not mounted in the guest now; names found there lie "
         "in the directory beneath.";
}

std::string StaleText(const Root& mount, const PathRules::Options& options) {
  const std::string instance = shell::ShellQuote(options.instance);
  return "This may be out of date: in " + mount.host +
         " the guest does not notice what the host changes (a 9p mount with cache: fscache or "
         "loose), so contents, sizes and times may be old. To change that, the user runs `limactl "
         "stop " +
         instance + "`, then `limactl edit " + instance +
         " --start`, and adds `9p: {cache: mmap}` to the mount of that location.";
}

}  // namespace paths
