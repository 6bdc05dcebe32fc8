// SPDX-License-Identifier: Apache-2.0
#include "copy/diff.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "git/objects.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/printable.h"

namespace copy {

using git::Existing;
namespace {

/// Bytes of a line that a terminal is shown.
constexpr std::size_t kMaxLine = 4096;

const std::string kWhat = "git cannot compare";

/// No configuration of the user or the guest changes its output.
const Git::Arguments kDiff = {"diff", "--no-color", "--no-ext-diff", "--no-textconv",
                              "--no-renames"};

const char* ColourOf(std::string_view line) {
  if (line.starts_with("diff ") || line.starts_with("+++ ") || line.starts_with("--- ")) {
    return "\x1b[1m";
  }
  if (line.starts_with("@@")) return "\x1b[36m";
  if (line.starts_with('+')) return "\x1b[32m";
  if (line.starts_with('-')) return "\x1b[31m";
  return nullptr;
}

std::string TerminalLine(std::string_view line) {
  const std::string text =
      support::Printable(line.substr(0, kMaxLine), "\t") + (line.size() > kMaxLine ? "..." : "");
  const char* const colour = ColourOf(line);
  return colour == nullptr ? text + "\n" : colour + text + "\x1b[m\n";
}

/// The user's pager; without it, cat takes over.
std::FILE* OpenPager() {
  std::string program = support::EnvironmentVariable("PAGER");
  if (program.empty()) program = "less";
  ::setenv("LESS", "FRX", 0);
  std::fflush(stdout);
  std::FILE* const pager = ::popen((program + " || cat").c_str(), "w");
  // Ctrl-C is for the pager, as with git.
  (void)::signal(SIGINT, SIG_IGN);
  return pager;
}

}  // namespace

std::string TerminalLines(std::string_view bytes, std::string& rest) {
  std::string text;
  while (true) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    // A terminal is not shown the rest of a longer line.
    if (rest.size() <= kMaxLine) rest += part.substr(0, kMaxLine + 1);
    if (end == std::string_view::npos) return text;
    text += TerminalLine(rest);
    rest.clear();
    bytes.remove_prefix(end + 1);
  }
}

void PrintDiff(const Git& git, const Git::Arguments& sides, bool only_names) {
  const bool on_terminal = ::isatty(STDOUT_FILENO) != 0;
  const bool is_patch = !on_terminal && !only_names;
  Git::Arguments arguments = kDiff;
  if (only_names) arguments.emplace_back("--stat");
  if (is_patch) arguments.emplace_back("--binary");
  arguments.insert(arguments.end(), sides.begin(), sides.end());
  // Only for what there is to see: an empty one would wait for the user.
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pager(nullptr, &::pclose);
  std::string rest;
  const auto print = [&](std::string_view bytes) {
    if (on_terminal && !pager) pager.reset(OpenPager());
    std::FILE* const file = pager ? pager.get() : stdout;
    const std::string text = is_patch ? std::string(bytes) : TerminalLines(bytes, rest);
    if (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0) {
      return true;
    }
    if (errno == EPIPE) return false;  // the user has seen enough
    throw support::Error("cannot write the diff: {}", std::generic_category().message(errno));
  };
  git.Read(arguments, print, kWhat);
}

std::string SentOrNothing(const SideRepository& side) {
  const std::string& sent = side.facts().sent;
  if (!Existing(side.git(), {sent}).empty()) return sent;
  return side.git().Require({"hash-object", "-t", "tree", "/dev/null"}, kWhat);
}

std::size_t CountChanged(const SideRepository& side, const std::string& from,
                         const std::string& to) {
  return git::Diff(side.git(), from, to).size();
}

}  // namespace copy
