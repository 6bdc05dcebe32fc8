#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What Linux says of its mounts: /proc/self/mountinfo (proc_pid_mountinfo(5)).
namespace paths {

/// One line of it. Escapes (\040 and so on) are undone.
struct MountLine {
  int id = 0;
  int parent_id = 0;
  std::string root;           ///< what of the file system is mounted; "/" for all of it
  std::string mount_point;    ///< as the reading process sees it
  std::string type;           ///< "9p", "virtiofs", "fuse.sshfs", …
  std::string source;         ///< of 9p and virtiofs: the tag
  std::string super_options;  ///< comma-separated
};

/// A value; see MountTable::Parse.
class MountTable {
 public:
  /// Lines that are no mount are left out.
  static MountTable Parse(std::string_view text);

  /// The mount in which a path look-up of `path` (absolute, clean, without links) ends: the one on
  /// top where several lie over each other, wherever on the way down they do. Null when the table
  /// has no root, and where more than kMostOnAWay mounts lie on the way: no guest has these, but
  /// one that lies may tell of so many that looking takes longer than a call may, or of a circle.
  [[nodiscard]] const MountLine* At(std::string_view path) const;
  static constexpr std::size_t kMostOnAWay = 1000;

 private:
  [[nodiscard]] std::optional<std::size_t> FindRoot() const;

  std::vector<MountLine> lines_;
  std::optional<std::size_t> root_;  ///< among lines_
};

/// Whether the kernel never asks the host again for what it has read once: 9p with cache=loose or
/// fscache. Linux before 6.4 prints the bare name of the mode ("fscache"), later ones "cache=" and
/// hexadecimal bits, of which 8 is CACHE_LOOSE (fs/9p/v9fs.h).
bool HasStaleCache(const MountLine& line);

}  // namespace paths
