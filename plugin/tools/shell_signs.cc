// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "mcp/json_writer.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/paths.h"
#include "tools/tools.h"

namespace tools {
namespace {

/// Bytes of a line that a hint repeats.
constexpr std::size_t kMaxShownLine = 1024;

bool IsRedirection(std::string_view word) {
  constexpr std::array<std::string_view, 8> kSigns = {">",  ">>", "2>", "2>>",
                                                      "&>", ">|", "<",  "<<"};
  return std::ranges::count(kSigns, word) > 0;
}

bool IsSign(std::string_view word) {
  constexpr std::array<std::string_view, 6> kSigns = {"|", "||", "&&", ";", "|&", "&"};
  return IsRedirection(word) || std::ranges::count(kSigns, word) > 0;
}

}  // namespace

std::string UseBash(const std::string& line) {
  return support::Format("command is a list of words, not a shell line; use {}",
                         mcp::ToJson({"bash", "-c", line.size() <= kMaxShownLine ? line : "..."}));
}

std::string CheckShellSigns(const std::vector<std::string>& words, const std::string& directory,
                            guest::Guest& guest, const support::Context& context) {
  const auto sign = std::find_if(words.begin() + 1, words.end(), IsSign);
  // Not the end of `find -exec`, the value of an option as in `cut -d |`, or a comparison.
  if (sign == words.end() || sign + 1 == words.end() || (sign - 1)->starts_with('-') ||
      words.front() == "expr" || words.front() == "test" || words.front() == "[") {
    return "";
  }
  const std::string& next = *(sign + 1);
  using guest::Request;
  const auto replies =
      guest.RoundTrip({Request::LStat(support::JoinPath(directory, *sign)),
                       Request::LStat(support::JoinPath(directory, next)),
                       Request::LStat(next.starts_with('/') ? next : "/usr/bin/" + next),
                       Request::LStat("/bin/" + next)},
                      context);
  const bool is_program =
      !replies[2].failure || !replies[3].failure || next == "cd" || next.starts_with("./");
  if (IsRedirection(*sign) ? next.starts_with('-') : !is_program) return "";
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + (IsSign(word) ? word : shell::ShellQuote(word));
  }
  if (replies[0].failure && replies[1].failure)
    throw support::CallError("nothing was run: {}", UseBash(line));
  // Not the line: a file that is there may be meant to be read, as in `grep > FILE`.
  return support::Format("`{}` was a word of this command: {}", *sign, UseBash("..."));
}

}  // namespace tools
