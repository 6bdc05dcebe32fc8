#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Linux's mount table: /proc/self/mountinfo (proc_pid_mountinfo(5)).
namespace paths {

/// One line, with escapes (\040 and so on) decoded.
struct MountLine {
  int id = 0;
  int parent_id = 0;
  std::string root;           ///< the mounted part of the file system; "/" for all of it
  std::string mount_point;    ///< as the reading process sees it
  std::string type;           ///< "9p", "virtiofs", "fuse.sshfs", …
  std::string source;         ///< of 9p and virtiofs: the tag
  std::string super_options;  ///< comma-separated
};

class MountTable {
 public:
  /// Ignores lines that are not mounts.
  static MountTable Parse(std::string_view text);

  /// The mount that `path` (absolute, clean, without links) lies in: the topmost one if several lie
  /// over each other. Null without a root mount, and for a path through more than kMostOnAWay
  /// mounts: only a lying guest has those.
  [[nodiscard]] const MountLine* At(std::string_view path) const;
  static constexpr std::size_t kMostOnAWay = 1000;

 private:
  std::vector<MountLine> lines_;
};

/// Whether the kernel never asks the host again for what it has read: 9p with cache=loose or
/// fscache. Linux before 6.4 prints the bare mode ("fscache"), later ones "cache=" and hexadecimal
/// bits, of which 8 is CACHE_LOOSE (fs/9p/v9fs.h).
bool HasStaleCache(const MountLine& line);

}  // namespace paths
