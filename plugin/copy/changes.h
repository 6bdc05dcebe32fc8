#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "copy/git.h"

namespace copy {

struct Change {
  enum class Kind { kDeleted, kFile, kProgram, kLink, kRepository };

  std::string path;
  std::string folded;  ///< see Folded
  bool is_new = false;
  bool was_program = false;
  Kind kind = Kind::kFile;
  std::optional<std::string> target;  ///< of a link; nothing if it is too long
  std::string other = {};  ///< a path of the tree that a file system may take for a new one
};

struct Changes {
  std::vector<Change> list;
  bool is_cut = false;  ///< there is more than can be examined
};

/// What differs between two commits, of which the guest may have made the second. Throws
/// support::CallError.
Changes ReadChanges(const Git& git, const std::string& from, const std::string& work);

/// For comparing paths as file systems may: those that one does not tell apart are the same.
std::string Folded(std::string_view path);

/// Whether a link at `path` may lead out of the project, or into a repository's settings.
bool LeadsOut(std::string_view path, std::string_view target);

}  // namespace copy
