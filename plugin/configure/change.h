#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configure/json_tree.h"

namespace configure {

/// The names of nested keys, outermost first.
using KeyPath = std::vector<std::string>;

/// "mcpServers.lima", for people.
std::string Dotted(const KeyPath& path);

/// One thing that is wanted in a settings file, and how it is taken away again. See Configured and
/// Unconfigured.
struct Change {
  enum class Kind {
    /// The object at `path` is ours by its name. Its members are set to those of `value`, nested
    /// objects likewise; a null means that the member must not be there; further members stay.
    /// Taken away as a whole.
    kEntry,
    /// The key at `path` has `value`. What the user had there is kept behind it in a comment, from
    /// which it is put back.
    kSetting,
    /// The key at `path` has `value` unless the user has set another one. Among members of the
    /// user's it stands behind two blanks, by which it is known; else it is taken away when it is
    /// all that is left in its object.
    kDefault,
    /// The elements of `value` are in the list at `path`, behind the user's own. Of each, the last
    /// one is taken away: an element that the user had already is there twice until then.
    kList,
    /// The whole file is `value`, a string, and ours.
    kWholeFile,
  };

  Kind kind = Kind::kEntry;
  KeyPath path;
  Json value;
  /// False: must not be there any more, and is taken away if it may be ours.
  bool wanted = true;
};

/// What stands in the comment behind a value that took the place of a user's.
inline constexpr std::string_view kRestoreMark = "limactl mcp configure --remove restores: ";

}  // namespace configure
