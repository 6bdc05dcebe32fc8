#include "paths/path_texts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "lima/sandbox.h"
#include "shell/shell_quote.h"
#include "support/environment.h"
#include "support/paths.h"

namespace paths {
namespace {

using nlohmann::json;

std::string NameInBoth(const Root& mount) {
  return mount.host + (mount.guest == mount.host ? "" : " (at " + mount.guest + " in the guest)");
}

/// An entry that makes `mount` writable. Lima merges entries with the same mountPoint, compared as
/// text ("/a/" differs from "/a"). The first entry wins, except for `writable`, where the last one
/// does. So adding an entry always works.
std::string WritableEntry(const Root& mount) {
  const json entry = {
      {"location", mount.host},
      {"mountPoint", mount.written_guest.empty() ? mount.guest : mount.written_guest},
      {"writable", true}};
  return ".mounts += [" + entry.dump(-1, ' ', false, json::error_handler_t::replace) + "]";
}

/// What to make writable for `path`: `mount`, unless that holds the user's home directory. Then a
/// `--root`, the working directory, or where the path is, but never that; nullopt if nothing fits.
std::optional<Root> SmallestPart(const std::string& path, const Root& root, const Root& mount,
                                 const PathRules::Options& options) {
  const std::string home = support::EnvironmentVariable("HOME");
  if (!support::PathBelow(home, mount.host)) return mount;
  const std::string narrowed = root.narrowed_from.empty() ? "" : root.host;
  for (const std::string& part : {narrowed, options.working_directory, support::ParentPath(path)}) {
    const auto rest = support::PathBelow(part, mount.host);
    if (!rest || !support::PathBelow(path, part) || support::PathBelow(home, part)) continue;
    return Root{.host = part, .guest = support::JoinPath(mount.guest, *rest)};
  }
  return std::nullopt;
}

}  // namespace

std::string DescribeRoots(const PathRules::Options& options) {
  if (!options.roots.empty()) return FormatRoots(options.roots);
  return "none, as the instance mounts nothing. To mount a directory, the user runs " +
         lima::EditCommands(options.instance, " --mount DIRECTORY:w");
}

std::string OutsideText(const std::string& what, const PathRules::Options& options) {
  return what + " outside the directories that may be used: " + DescribeRoots(options);
}

std::string ReadOnlyText(const std::string& path, const Root& root,
                         const PathRules::Options& options) {
  const std::string text = path + " is read-only: it lies in " + root.host +
                           " (read-only). The directories are: " + DescribeRoots(options) +
                           ". To make it writable, ";
  if (root.is_guests_own) {
    return text + "the user starts the server with --allow-path " +
           shell::ShellQuote(root.guest + ":w") + ".";
  }
  const std::string& mount_point = root.narrowed_from.empty() ? root.guest : root.narrowed_from;
  const auto found = std::find_if(options.mounts.begin(), options.mounts.end(),
                                  [&](const Root& mount) { return mount.guest == mount_point; });
  const Root& mount = found == options.mounts.end() ? root : *found;
  const std::optional<Root> part = SmallestPart(path, root, mount, options);
  if (!part) return text + "the user mounts the project alone, not all of the home directory.";
  if (part->guest == mount.guest && mount.writable_where.find("/override.yaml:") != path.npos) {
    return text + "the user changes " + mount.writable_where + ", and runs `" +
           lima::RestartCommand(options.instance) + "`.";
  }
  return text + "the user runs " +
         lima::EditCommands(options.instance, " --set " + shell::ShellQuote(WritableEntry(*part))) +
         ".";
}

std::string ProtectedText(const std::string& path, const exposure::HostProgram& row) {
  return path + " is not written by the file tools, because " + std::string(row.program) +
         " on the host obeys it (" + std::string(row.reason) +
         "). Ask the user to edit it there, or to start the server with --allow-settings.";
}

std::string CoveredText(const std::string& path, const Root& mount, const std::string& other) {
  return path + " cannot be used: in the guest the mount of " + mount.host + " (at " + mount.guest +
         ") lies over it, so other files are there. If you mean those, give " + other;
}

std::string NotMountedText(const std::string& path, const Root& mount,
                           const PathRules::Options& options) {
  return path + " cannot be used now: " + NameInBoth(mount) +
         " is a mount of the instance, but it is not mounted in the guest. Nothing was read or "
         "written. To mount it, the user must restart the instance: `" +
         lima::RestartCommand(options.instance) + "`.";
}

std::string MissingText(const Root& mount) {
  return "This leaves out " + NameInBoth(mount) +
         ", a mount of the instance that is not mounted in the guest now; names found there are "
         "those of the directory beneath.";
}

std::string StaleText(const Root& mount, const PathRules::Options& options) {
  return "This may be out of date: in " + mount.host +
         " the guest does not notice what the host changes (a 9p mount with cache: fscache or "
         "loose), so contents, sizes and times may be old. To change that, the user runs " +
         lima::EditCommands(options.instance) +
         ", and adds `9p: {cache: mmap}` to the mount of that location.";
}

}  // namespace paths
