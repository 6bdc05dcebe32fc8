#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Linux's mount table: /proc/self/mountinfo (proc_pid_mountinfo(5)).
namespace paths {

/// One line, with its escapes (such as \040) decoded.
struct MountLine {
  int id = 0;
  int parent_id = 0;
  std::string root;           ///< the mounted part of the file system; "/" for all of it
  std::string mount_point;    ///< as the reading process sees it
  std::string type;           ///< "9p", "virtiofs", "fuse.sshfs", …
  std::string source;         ///< of 9p and virtiofs: the tag
  std::string super_options;  ///< comma-separated
};

/// Ignores lines that are not mounts.
std::vector<MountLine> ParseMountTable(const std::string& text);

/// The mount that contains `path` (absolute, clean, without links): the topmost one if several are
/// stacked. Null if there is no root mount, or mounts lie on each other in a circle.
const MountLine* FindMount(const std::vector<MountLine>& table, std::string_view path);

/// Whether the kernel never refreshes its cache: 9p with cache=loose or fscache. Linux before 6.4
/// prints only the mode ("fscache"), later versions "cache=" and hexadecimal bits, of which 8 is
/// CACHE_LOOSE (fs/9p/v9fs.h).
bool HasStaleCache(const MountLine& line);

}  // namespace paths
