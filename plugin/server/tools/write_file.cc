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

Written WriteFile(Task& task) {
  const auto& content = task.call.arguments.at("content").get_ref<const std::string&>();
  FileTarget& file = task.ResolveFile(paths::Access::kWrite, "write");
  file.needed_bytes = content.size();
  const paths::ResolvedPath& path = file.path;
  const auto lock = task.toolbox.writer.Lock(path, task.context);
  // As lists show bytes that are not UTF-8.
  static const support::Regex stand_ins(R"(\x{FFFD}|\\x)");
  if (!path.attributes && stand_ins.PartialMatch(path.guest)) {
    files::ProposeLookAlike(support::Format("{} is missing", path.host), path, task.guest(),
                            task.context);
  }
  if (path.attributes) {
    RefuseReplacementCharacters(path, content, [&] {
      return files::FileReader(path, task.guest(), task.context).IsUtf8();
    });
  }
  return {.notes = {task.toolbox.writer.Write(path, content, task.guest(), task.context)}};
}

}  // namespace tools
