// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "files/file_problem.h"
#include "tools/tools.h"

namespace tools {

Entries ListDirectory(Toolbox& toolbox, const mcp::ToolCall& call) {
  Entries result;
  WithFile(toolbox, call, paths::Access::kList, "list", [&](FileCall& file) {
    const paths::ResolvedPath& path = file.path;
    files::RequireDirectory(path, *file.workspace.guest, file.context);
    result.entries = files::NamesIn(path, *file.workspace.guest, file.context);
    std::ranges::sort(result.entries, {}, &guest::DirectoryEntry::name);
  });
  return result;
}

}  // namespace tools
