#pragma once

#include <vector>

#include "guest/guest.h"
#include "support/context.h"
#include "tools/path_rules.h"

namespace tools {

/// What is in a directory that PathRules::Resolve gave for Access::kList: one round trip for a
/// hundred names, two where it is not open yet. Throws guest::FileError, and support::CallError
/// where something else has taken its place.
std::vector<guest::DirectoryEntry> NamesIn(const ResolvedPath& directory, guest::Guest& guest,
                                           const support::Context& context);

}  // namespace tools
