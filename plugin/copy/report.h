#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "copy/git.h"
#include "copy/side_repository.h"
#include "paths/host_programs.h"

namespace copy {

// The modes of a tree's entries.
inline constexpr const char* kDirectory = "040000";
inline constexpr const char* kProgram = "100755";
inline constexpr const char* kLink = "120000";

/// What differs in one path.
struct Change : RawChange {
  std::optional<std::string> target = {};  ///< of a link; nothing if it is too long
  std::string other = {};  ///< a path of the tree that a file system may take for a new one
  std::string key = {};    ///< of the table's rows that have keys: why the path counts
  std::string note = {};   ///< printed after the path

  [[nodiscard]] bool is_deleted() const { return mode == kNone; }
  /// A new directory, whose files are changes of their own.
  [[nodiscard]] bool has_only_other() const { return mode == kDirectory && !other.empty(); }
};

/// What the user should know of a change before looking at it. Nothing in it is judged.
struct Report {
  /// Printable, bounded in length and number: what programs of this host run or obey, the most
  /// dangerous first; links that lead out, executables, submodules, and names that mislead.
  std::vector<std::string> lines;
  std::size_t protected_files = 0;  ///< that the file tools refuse to write
  bool is_cut = false;              ///< there is more than was examined
};

Report ReportOn(const std::vector<Change>& changes, const paths::HostPrograms& programs,
                bool is_cut);

/// For comparing paths as file systems may: those that one does not tell apart are the same.
std::string Folded(std::string_view path);

/// Printable and bounded; code points that are not seen become \xHH.
std::string Visible(std::string_view name);

/// The first names, and how many more there are.
std::string List(const std::vector<std::string>& names, std::size_t most = 3);

/// Whether a link at `path` may lead out of the project, or into a repository's settings.
bool LeadsOut(std::string_view path, std::string_view target);

/// The rows of the table that are about the path itself.
std::vector<paths::HostProgram> RowsOfPath(std::string_view path,
                                           const paths::HostPrograms& programs);

/// The row of the table for a key of git's configuration; nothing if the key is harmless.
const paths::HostProgram* RowOfKey(const std::string& key, const paths::HostPrograms& programs);

/// The paths that a value of git's configuration may name, absolute.
std::vector<std::string> NamedPaths(const std::string& key, std::string value,
                                    const std::filesystem::path& directory);

/// Of the change from `from` to `to`. Reads the configuration of the user's git, which may obey
/// files of the project. With `branch`, which the change will be: also of the commits in between,
/// and of files that git would overwrite. Throws support::CallError.
Report MakeReport(const SideRepository& side, const Git& users, const paths::HostPrograms& programs,
                  const std::string& from, const std::string& to, const std::string& branch);

}  // namespace copy
