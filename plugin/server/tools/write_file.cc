// SPDX-License-Identifier: Apache-2.0

#include "files/file_problem.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/regex.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {

void RefuseReplacementCharacters(const paths::ResolvedPath& path, std::string_view content,
                                 const std::function<bool()>& is_utf8) {
  if (content.find(support::kReplacementCharacter) == std::string_view::npos || is_utf8()) return;
  throw support::Error(
      "{} is not UTF-8, and the new text contains U+FFFD, which read_file shows in place of "
      "invalid bytes: writing it would lose those bytes. Nothing was written. Change the file with "
      "run_shell_command (sed, iconv), or leave U+FFFD out.",
      path.host);
}

Written WriteFile(Toolbox& toolbox, const mcp::ToolCall& call) {
  const auto& content = call.arguments.at("content").get_ref<const std::string&>();
  Written result;
  WithFile(toolbox, call, paths::Access::kWrite, "write", [&](FileCall& file) {
    guest::Guest& guest = *file.workspace.guest;
    file.needed_bytes = content.size();
    const auto lock = toolbox.writer.Lock(file.path, file.context);
    // As lists show bytes that are not UTF-8.
    static const support::Regex stand_ins(R"(\x{FFFD}|\\x)");
    if (!file.path.attributes && stand_ins.PartialMatch(file.path.guest)) {
      files::ProposeLookAlike(support::Format("{} is missing", file.path.host), file.path, guest,
                              file.context);
    }
    if (file.path.attributes) {
      RefuseReplacementCharacters(file.path, content, [&] {
        return files::FileReader(file.path, guest, file.context).IsUtf8();
      });
    }
    result.notes = {toolbox.writer.Write(file.path, content, guest, file.context)};
  });
  return result;
}

}  // namespace tools
