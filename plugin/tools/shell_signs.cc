#include <algorithm>
#include <array>
#include <string_view>

#include "mcp/json_writer.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/paths.h"
#include "tools/tools.h"

namespace tools {
namespace {

/// Bytes of a line that a hint repeats.
constexpr std::size_t kMaxShownLine = 1024;

constexpr std::array<std::string_view, 6> kBetweenCommands = {"|", "||", "&&", ";", "|&", "&"};
constexpr std::array<std::string_view, 9> kRedirections = {">",   ">>", "2>", "2>>", "&>",
                                                           "&>>", ">|", "<",  "<<"};

bool IsSign(std::string_view word) {
  return std::ranges::count(kBetweenCommands, word) + std::ranges::count(kRedirections, word) > 0;
}

/// The line that the words were probably meant as.
std::string LineOf(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + (IsSign(word) ? word : shell::ShellQuote(word));
  }
  return line;
}

}  // namespace

std::string UseBash(const std::string& line) {
  return "command is a list of words, not a shell line; use " +
         mcp::ToJson({"bash", "-c", line.size() <= kMaxShownLine ? line : "..."});
}

std::string CheckShellSigns(const std::vector<std::string>& words, const std::string& directory,
                            guest::Guest& guest, const support::Context& context) {
  const auto found = std::find_if(words.begin() + 1, words.end(), IsSign);
  // The value of an option, as in `cut -d |`, and the end of `find -exec` are no signs.
  if (found == words.end() || found + 1 == words.end() || (found - 1)->starts_with('-')) return "";
  constexpr std::array<std::string_view, 3> kComparing = {"expr", "test", "["};
  if (std::ranges::count(kComparing, words.front()) > 0) return "";
  const std::string& next = *(found + 1);
  using guest::Request;
  const std::vector<guest::Reply> replies =
      guest.RoundTrip({Request::LStat(support::JoinPath(directory, *found)),
                       Request::LStat(support::JoinPath(directory, next)),
                       Request::LStat("/usr/bin/" + next), Request::LStat("/bin/" + next)},
                      context);
  const auto exists = [&replies](std::size_t i) { return !replies[i].failure; };
  const bool is_program = exists(2) || exists(3) || next == "cd";
  const bool is_redirection = std::ranges::count(kRedirections, *found) > 0;
  const std::string hint = UseBash(LineOf(words));
  if (is_redirection ? next.starts_with('-') : !is_program) return "";
  if (!exists(0) && !exists(1)) throw support::CallError("nothing was run: " + hint);
  return "`" + *found + "` was a word of this command: " + hint;
}

}  // namespace tools
