#include "tools/path_texts.h"

#include <algorithm>
#include <string_view>

#include "support/paths.h"
#include "tools/shell_quote.h"

namespace tools {
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
    if (best == nullptr || best->guest.size() < mount.guest.size()) best = &mount;
  }
  return best;
}

// The flag's value is a line of comma-separated values (pflag's StringSlice): RFC 4180 quoting.
std::string FlagValue(const std::string& value) {
  if (value.find_first_of(",\"\r\n") == std::string::npos) return ShellQuote(value);
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return ShellQuote(quoted + "\"");
}

std::string EditCommand(const Root& wanted, const PathRules::Options& options) {
  std::string command = "limactl edit " + ShellQuote(options.instance) + " --start";
  for (const Root& mount : Mounts(options)) {
    const bool writable = mount.writable || &mount == &wanted;
    command += " --mount-only " + FlagValue(mount.host + (writable ? ":w" : ""));
  }
  return command;
}

}  // namespace

std::string ListRoots(const PathRules::Options& options) {
  if (options.roots.empty()) {
    const std::string instance = ShellQuote(options.instance);
    return "none, as the instance mounts nothing. To mount a directory, the user runs `limactl "
           "stop " +
           instance + "`, then `limactl edit " + instance + " --start --mount-only DIRECTORY:w`";
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
           ShellQuote(root.guest + ":w") + ".";
  }
  if (mount->writable) {
    return problem + "The server was told to use it so.";
  }
  const std::string stop = "limactl stop " + ShellQuote(options.instance);
  const auto& mounts = Mounts(options);
  const bool mapped = std::any_of(mounts.begin(), mounts.end(),
                                  [](const Root& each) { return each.host != each.guest; });
  if (mapped) {
    return problem + "To make it writable, the user runs `" + stop + "`, then `limactl edit " +
           ShellQuote(options.instance) + " --start` and sets `writable: true` for the location " +
           mount->host +
           " (--mount-only would lose the mountPoint of mounts that have one of their own).";
  }
  return problem + "To make it writable, the user runs `" + stop + "`, then `" +
         EditCommand(*mount, options) + "`.";
}

std::string NotMountedText(const std::string& path, const Root& mount,
                           const PathRules::Options& options) {
  const std::string instance = ShellQuote(options.instance);
  const std::string place =
      mount.guest == mount.host ? "" : " (at " + mount.guest + " in the guest)";
  return path + " cannot be used now: " + mount.host + place +
         " is a mount of the instance, but it is not mounted in the guest, where only a "
         "directory of the guest's own may be in its place. Nothing was read or written. It works "
         "as soon as it is mounted; to get there, the user restarts the instance: `limactl stop " +
         instance + "`, then `limactl start " + instance + "`.";
}

std::string StaleText(const Root& mount, const PathRules::Options& options) {
  const std::string instance = ShellQuote(options.instance);
  return "This may be out of date: the guest keeps what it has once read of " + mount.host +
         " and does not notice when the host changes it (a 9p mount with cache: fscache or loose), "
         "so that contents, sizes and times may be old. To change that, the user runs `limactl "
         "stop " +
         instance + "`, then `limactl edit " + instance +
         " --start`, and adds `9p: {cache: mmap}` to the mount of that location.";
}

}  // namespace tools
