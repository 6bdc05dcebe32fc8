// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "files/file_problem.h"
#include "tools/tools.h"

namespace tools {

Entries ListDirectory(Task& task) {
  const paths::ResolvedPath& path = task.ResolveFile(paths::Access::kList, "list").path;
  files::RequireDirectory(path, task.guest(), task.context);
  Entries result{files::NamesIn(path, task.guest(), task.context)};
  std::ranges::sort(result.entries, {}, &guest::DirectoryEntry::name);
  return result;
}

}  // namespace tools
