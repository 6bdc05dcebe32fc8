#pragma once

#include <vector>

#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"

namespace files {

/// What is in a directory that PathRules::Resolve gave for Access::kList: one round trip for a
/// hundred names, two where it is not open yet. Throws guest::FileError, and support::CallError
/// where something else has taken its place.
std::vector<guest::DirectoryEntry> NamesIn(const paths::ResolvedPath& directory,
                                           guest::Guest& guest, const support::Context& context);

}  // namespace files
