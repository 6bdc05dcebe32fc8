#pragma once

#include <string>

#include "copy/change_report.h"
#include "copy/git.h"
#include "copy/side_repository.h"
#include "paths/host_programs.h"

namespace copy {

/// Of the change from `from` to the id "work". Reads the configuration of the user's git, which may
/// obey files of the project. `branch` is, or will be, that of the work. Throws support::CallError.
Report MakeReport(const SideRepository& side, const Git& users, const paths::HostPrograms& programs,
                  const std::string& from, const std::string& branch);

}  // namespace copy
