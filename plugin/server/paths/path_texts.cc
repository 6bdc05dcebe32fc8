// SPDX-License-Identifier: Apache-2.0
#include "paths/path_texts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "lima/sandbox.h"
#include "shell/shell_quote.h"
#include "support/environment.h"
#include "support/format.h"
#include "support/paths.h"

namespace paths {
namespace {

using nlohmann::json;
using support::Format;

std::string NameInBoth(const Root& mount) {
  return mount.guest == mount.host ? mount.host
                                   : Format("{} (at {} in the guest)", mount.host, mount.guest);
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
  return Format("none, as the instance mounts nothing. To mount a directory, the user runs {}",
                lima::EditCommands(options.instance, " --mount DIRECTORY:w"));
}

std::string OutsideText(const std::string& what, const PathRules::Options& options) {
  return Format("{} outside the directories that may be used: {}", what, DescribeRoots(options));
}

std::string ReadOnlyText(const std::string& path, const Root& root,
                         const PathRules::Options& options) {
  const std::string text = Format(
      "{} is read-only: it lies in {} (read-only). The directories are: {}. "
      "To make it writable, the user ",
      path, root.host, DescribeRoots(options));
  if (root.is_guests_own) {
    return Format("{}starts the server with --allow-path {}.", text,
                  shell::ShellQuote(root.guest + ":w"));
  }
  const std::string& mount_point = root.narrowed_from.empty() ? root.guest : root.narrowed_from;
  const auto found = std::find_if(options.mounts.begin(), options.mounts.end(),
                                  [&](const Root& mount) { return mount.guest == mount_point; });
  const Root& mount = found == options.mounts.end() ? root : *found;
  const std::optional<Root> part = SmallestPart(path, root, mount, options);
  if (!part) return Format("{}mounts the project alone, not all of the home directory.", text);
  if (part->guest == mount.guest && mount.writable_where.find("/override.yaml:") != path.npos) {
    return Format("{}changes {}, and runs `{}`.", text, mount.writable_where,
                  lima::RestartCommand(options.instance));
  }
  const std::string setting = " --set " + shell::ShellQuote(WritableEntry(*part));
  return Format("{}runs {}.", text, lima::EditCommands(options.instance, setting));
}

std::string ProtectedText(const std::string& path, const paths::HostProgram& row) {
  return Format(
      "{} is not written by the file tools, because {} on the host obeys it ({}). "
      "Ask the user to edit it there, or to start the server with --allow-settings.",
      path, row.program, row.reason);
}

std::string CoveredText(const std::string& path, const Root& mount, const std::string& other) {
  return Format(
      "{} cannot be used: in the guest the mount of {} (at {}) lies over it, "
      "so other files are there. If you mean those, give {}",
      path, mount.host, mount.guest, other);
}

std::string NotMountedText(const std::string& path, const Root& mount,
                           const PathRules::Options& options) {
  return Format(
      "{} cannot be used now: {} is a mount of the instance, but it is not mounted in the guest. "
      "Nothing was read or written. To mount it, the user must restart the instance: `{}`.",
      path, NameInBoth(mount), lima::RestartCommand(options.instance));
}

std::string MissingText(const Root& mount) {
  return Format(
      "This leaves out {}, a mount of the instance that is not mounted in the guest now; "
      "names found there are those of the directory beneath.",
      NameInBoth(mount));
}

}  // namespace paths
