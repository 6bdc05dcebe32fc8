// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <utility>

#include "files/file_problem.h"
#include "files/text_replacement.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/units.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {
namespace {

using files::ChangedMeanwhile;
using support::Error;
using support::Format;

/// How often a file that something else is changing is tried.
constexpr int kMaxTries = 3;

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
    throw Error(
        "old_string is empty: it must be the text to replace; write_file writes whole files");
  }
  if (edit.old_string == edit.new_string) {
    throw Error("old_string and new_string are the same: there is nothing to replace");
  }
  return edit;
}

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string ListLines(const files::Occurrences& found) {
  std::vector<std::string> lines;
  for (const auto line : found.lines) lines.push_back(std::to_string(line));
  if (found.count > lines.size() && lines.size() == files::kMaxListedLines) lines.push_back("…");
  return Format("{} {}", found.lines.size() == 1 ? "line" : "lines", support::Join(lines));
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kWhite);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kWhite) - first + 1);
}

/// Names the line numbers of the text's first line, if the file has it.
std::string NearMissHint(std::string_view content, std::string_view old_string,
                         const support::Context& context) {
  const std::string_view trimmed = Trim(old_string);
  const std::string_view first_line = Trim(trimmed.substr(0, trimmed.find('\n')));
  if (first_line.empty() || first_line == old_string) return "";
  const files::Occurrences found = files::FindOccurrences(content, first_line, context);
  if (found.count == 0) return "";
  return Format(" Its first line is there ({}), but the text around it or the white space differs.",
                ListLines(found));
}

/// Shows lines of the file that look like `sought`, escaped, if there are any.
std::string LookAlikeHint(std::string_view content, std::string_view sought,
                          const support::Context& context) {
  constexpr std::size_t kShown = 300;
  const std::string looks = files::LooksOf(sought);
  if (looks.empty()) return "";
  const auto found = files::FindOccurrences(files::LooksOf(content), looks, context);
  if (found.count == 0) return "";
  const std::string_view from = content.substr(EndOfLines(content, found.lines.front() - 1));
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(sought, '\n')) + 1;
  const std::string there = support::ToUtf8(from.substr(0, EndOfLines(from, lines)));
  // A lone LF in old_string would match CRLF, too.
  const bool differs_in_ends =
      sought.find('\r') != std::string_view::npos && there.find('\r') == std::string::npos;
  return Format(" Line {} only looks like it{}: {}", found.lines.front(),
                differs_in_ends ? ", as its line ends are LF, not CRLF" : "",
                nlohmann::json(support::CutText(there, kShown)).dump(-1, ' ', true));
}

[[noreturn]] void ThrowNotFound(std::string_view content, const Edit& edit,
                                const paths::ResolvedPath& path, const support::Context& context) {
  const std::string text =
      Format("old_string was found 0 times in {}; nothing was changed.", path.host);
  if (edit.old_string.find(support::kReplacementCharacter) != std::string::npos &&
      !support::IsValidUtf8(content)) {
    throw Error(
        "{} The file is not UTF-8, and old_string contains U+FFFD, which read_file shows in place "
        "of invalid bytes: leave such places out.",
        text);
  }
  const std::string hint = LookAlikeHint(content, edit.old_string, context);
  throw Error(text + (hint.empty() ? NearMissHint(content, edit.old_string, context) : hint));
}

files::ReplacedText FindAndReplace(std::string_view content, const Edit& edit,
                                   const paths::ResolvedPath& path,
                                   const support::Context& context) {
  const files::Occurrences found = files::FindOccurrences(content, edit.old_string, context);
  if (found.count == 0) ThrowNotFound(content, edit, path, context);
  if (found.count > 1 && !edit.allow_multiple) {
    throw Error(
        "old_string was found {} times in {} ({}); nothing was changed. "
        "Give more of the text around the right one, or set allow_multiple to replace them all.",
        found.count, path.host, ListLines(found));
  }
  auto replaced = files::ReplaceOccurrences(content, edit.old_string, edit.new_string,
                                            kMaxReplaceBytes, context);
  if (!replaced) {
    throw Error("{} would grow above {}, the most that replace writes; nothing was changed",
                path.host, support::FormatByteCount(kMaxReplaceBytes));
  }
  return *std::move(replaced);
}

/// Throws ChangedMeanwhile unless it is the file that the path rules saw.
std::string ReadForReplace(const paths::ResolvedPath& path, guest::Guest& guest,
                           const support::Context& context) {
  if (path.reads_may_be_stale) {
    throw Error(
        "{}: the guest may not notice what the host changes here (9p cache), so replace could undo "
        "that. Nothing was changed. The user can set `9p: {cache: mmap}` at this mount",
        path.host);
  }
  files::FileReader file(path, guest, context);
  const guest::FileAttributes& opened = file.attributes();
  if (opened.size > kMaxReplaceBytes) {
    throw Error("{} has {}; replace works on files of up to {}: use run_shell_command (sed, perl)",
                path.host, support::FormatByteCount(opened.size),
                support::FormatByteCount(kMaxReplaceBytes));
  }
  std::string content = file.ReadWhole();
  if (opened != *path.attributes) throw ChangedMeanwhile(path.host);
  return content;
}

/// Throws ChangedMeanwhile if something else changes the file at the same time.
Written ReplaceOnce(FileTarget& file, const Edit& edit, Task& task) {
  const std::string content = ReadForReplace(file.path, task.guest(), task.context);
  files::RefuseWideText(content, file.path);
  const files::ReplacedText replaced = FindAndReplace(content, edit, file.path, task.context);
  RefuseReplacementCharacters(file.path, edit.new_string,
                              [&] { return support::IsValidUtf8(content); });
  if (!IsAscii(edit.new_string) && !support::IsValidUtf8(content)) {
    throw Error(
        "{} is not UTF-8, but new_string has characters that are not ASCII, which would be "
        "written as UTF-8; nothing was changed. Use run_shell_command (sed, iconv).",
        file.path.host);
  }
  file.needed_bytes = replaced.text.size();
  std::string note = task.toolbox.writer.Write(file.path, replaced.text, task.guest(), task.context,
                                               files::Overwrite::kIfUnchanged);
  return {.notes = {std::move(note)}, .replacements = replaced.replacements};
}

}  // namespace

Written Replace(Task& task) {
  const Edit edit = ParseEdit(task.call.arguments);
  FileTarget* file = &task.ResolveFile(paths::Access::kWrite, "replace in");
  const auto lock = task.toolbox.writer.Lock(file->path, task.context);
  for (int tries = 1;; ++tries) {
    try {
      return ReplaceOnce(*file, edit, task);
    } catch (const ChangedMeanwhile&) {
      if (tries == kMaxTries) throw;
    }
    file = &task.ResolveFile(paths::Access::kWrite, "replace in");
  }
}

}  // namespace tools
