#include "tools/replace.h"

#include <string>
#include <string_view>
#include <utility>

#include "files/file_problem.h"
#include "files/text_replacement.h"
#include "support/errors.h"
#include "support/units.h"
#include "support/utf8.h"
#include "tools/contract.h"
#include "tools/write_file.h"

namespace tools {
namespace {

using support::CallError;

/// Something else has written to the file since it was read.
class ChangedMeanwhile : public CallError {
 public:
  explicit ChangedMeanwhile(const std::string& shown)
      : CallError(shown +
                  " is being changed by something else at the same time; nothing was changed by "
                  "this call: read it again, and try again") {}
};

struct Edit {
  std::string old_string;
  std::string new_string;
  bool allow_multiple = false;
};

Edit ParseEdit(const nlohmann::json& arguments) {
  Edit edit{arguments.at("old_string").get<std::string>(),
            arguments.at("new_string").get<std::string>(),
            arguments.value("allow_multiple", false)};
  if (edit.old_string.empty()) {
    throw CallError(
        "old_string is empty: it must be the text to replace; write_file writes whole files");
  }
  if (edit.old_string == edit.new_string) {
    throw CallError("old_string and new_string are the same: there is nothing to replace");
  }
  return edit;
}

std::string ListLines(const files::Occurrences& found) {
  std::string text = found.lines.size() == 1 ? "line " : "lines ";
  for (std::size_t i = 0; i < found.lines.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(found.lines[i]);
  }
  const bool more =
      found.lines.size() == files::kMaximumListedLines && found.count > files::kMaximumListedLines;
  return more ? text + ", …" : text;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kWhite);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kWhite) - first + 1);
}

/// Names the line numbers of the text's first line, if the file has it.
std::string NearMissHint(std::string_view content, std::string_view old_string) {
  const std::string_view trimmed = Trim(old_string);
  const std::string_view first_line = Trim(trimmed.substr(0, trimmed.find('\n')));
  if (first_line.empty() || first_line == old_string) return "";
  const files::Occurrences found = files::FindOccurrences(content, first_line);
  if (found.count == 0) return "";
  return " Its first line is there (" + ListLines(found) +
         "), but the text around it or the white space differs.";
}

[[noreturn]] void ThrowNotFound(std::string_view content, const Edit& edit,
                                const paths::ResolvedPath& path) {
  std::string text = "old_string was found 0 times in " + path.host + "; nothing was changed.";
  if (edit.old_string.find(support::kReplacementCharacter) != std::string::npos &&
      !support::IsValidUtf8(content)) {
    text +=
        " The file is not UTF-8, and old_string contains U+FFFD, which read_file shows in place of "
        "invalid bytes: leave such places out.";
  }
  throw CallError(text + NearMissHint(content, edit.old_string));
}

files::ReplacedText Replace(std::string_view content, const Edit& edit,
                            const paths::ResolvedPath& path) {
  const files::Occurrences found = files::FindOccurrences(content, edit.old_string);
  if (found.count == 0) ThrowNotFound(content, edit, path);
  if (found.count > 1 && !edit.allow_multiple) {
    throw CallError("old_string was found " + std::to_string(found.count) + " times in " +
                    path.host + " (" + ListLines(found) +
                    "); nothing was changed. Give more of the text around the right one, or set "
                    "allow_multiple to replace them all.");
  }
  auto replaced =
      files::ReplaceOccurrences(content, edit.old_string, edit.new_string, kMaximumReplaceBytes);
  if (!replaced) {
    throw CallError(path.host + " would grow above " +
                    support::FormatByteCount(kMaximumReplaceBytes) +
                    ", the most that replace writes; nothing was changed");
  }
  return *std::move(replaced);
}

/// Sets the attributes of `path` to those of the file that was read. Throws ChangedMeanwhile if it
/// changed after that.
std::string ReadForReplace(paths::ResolvedPath& path, guest::Guest& guest,
                           const support::Context& context) {
  files::FileReader file(path, guest, context);
  const guest::FileAttributes& opened = file.attributes();
  if (opened.size > kMaximumReplaceBytes) {
    throw CallError(path.host + " has " + support::FormatByteCount(opened.size) +
                    "; replace works on files of up to " +
                    support::FormatByteCount(kMaximumReplaceBytes) +
                    ": use run_shell_command (sed, perl)");
  }
  std::string content = file.ReadWhole();
  if (const std::string note = file.StaleNote(); !note.empty()) {
    throw CallError("the content of " + path.host + " may be old; nothing was changed. " + note);
  }
  // See ReadDirectly: the guest may have added NUL bytes.
  if (file.was_read_directly() && content.ends_with('\0')) {
    throw CallError(path.host +
                    " ends with NUL bytes, as the guest shows it if it became shorter on the host; "
                    "nothing was changed. Write the whole file with write_file.");
  }
  // The path was resolved before the lock was taken, so the file may have changed since.
  if (opened != *path.attributes) {
    const guest::FileAttributes now = guest.LStat(path.guest, context);
    if (now != *path.attributes && now != opened) throw ChangedMeanwhile(path.host);
    path.attributes = now;
  }
  return content;
}

template <typename Attempt>
std::uint64_t RepeatWhileItChanges(const Attempt& attempt) {
  for (int tries = 1;; ++tries) {
    try {
      return attempt();
    } catch (const ChangedMeanwhile&) {
      if (tries == kMostTries) throw;
    }
  }
}

}  // namespace

const mcp::ToolDefinition& ReplaceTool::definition() const {
  return Definition("replace");
}

mcp::ToolResult ReplaceTool::Call(const mcp::ToolCall& call) {
  const Edit edit = ParseEdit(call.arguments);
  const support::Context context = call.context.WithTimeout(kFileToolTimeLimit);
  return WithWorkspace(
      workspaces_, context, call.progress, [&](const Workspace& workspace) -> mcp::ToolResult {
        guest::Guest& guest = *workspace.guest;
        paths::ResolvedPath path;
        std::uint64_t needed_bytes = 0;
        std::string note;
        const auto attempt = [&] {
          path = {};
          path = workspace.paths->Resolve(call.arguments.at("path").get<std::string>(),
                                          paths::Access::kWrite, guest, context);
          const auto lock = writer_->Lock(path, context);
          const std::string content = ReadForReplace(path, guest, context);
          const files::ReplacedText replaced = Replace(content, edit, path);
          RefuseReplacementCharacters(path, edit.new_string, content);
          needed_bytes = replaced.text.size();
          note = writer_->Write(path, replaced.text, guest, context, [&] {
            if (guest.LStat(path.guest, context) != *path.attributes) {
              throw ChangedMeanwhile(path.host);
            }
          });
          return replaced.replacements;
        };
        try {
          mcp::ToolResult result = {
              .structured = {{"replacements", RepeatWhileItChanges(attempt)}}};
          AddNote(result, note);
          return result;
        } catch (const guest::FileError& error) {
          files::ThrowFileProblem(error, "replace in", path, needed_bytes, guest, context);
        }
      });
}

}  // namespace tools
