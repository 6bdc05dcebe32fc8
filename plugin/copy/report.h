#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "copy/git.h"
#include "copy/side_repository.h"
#include "paths/host_programs.h"

namespace copy {

/// Whether a link at `path` may lead out of the project, or into a repository's settings.
bool LeadsOut(std::string_view path, std::string_view target);

/// What the user should know of a change before looking at it. Nothing in it is judged.
struct Report {
  /// Printable, bounded in length and number: what programs of this host run or obey, the most
  /// dangerous first; links that lead out, executables, submodules, and names that mislead.
  std::vector<std::string> lines;
  std::size_t protected_files = 0;  ///< that the file tools refuse to write
};

/// Of the change from `from` to the id "work". Reads the configuration of the user's git, which may
/// obey files of the project. `branch` is, or will be, that of the work. Throws support::CallError.
Report MakeReport(const SideRepository& side, const Git& users, const paths::HostPrograms& programs,
                  const std::string& from, const std::string& branch);

}  // namespace copy
