#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "copy/copy.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/printable.h"

namespace copy {
namespace {

/// Bytes of a line that a terminal is shown.
constexpr std::size_t kMaxLine = 4096;

constexpr const char* kWhat = "git cannot compare the copy with what was sent";

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
  const bool is_cut = line.size() > kMaxLine;
  std::string text;
  for (std::string_view rest = line.substr(0, kMaxLine); !rest.empty();) {
    const std::size_t tab = std::min(rest.find('\t'), rest.size());
    text += support::Printable(rest.substr(0, tab));
    if (tab < rest.size()) text += '\t';
    rest.remove_prefix(std::min(tab + 1, rest.size()));
  }
  if (is_cut) text += "...";
  const char* const colour = ColourOf(line);
  return colour == nullptr ? text + "\n" : colour + text + "\x1b[m\n";
}

/// Where text for a terminal goes: the user's pager, or the terminal.
class Pager {
 public:
  Pager() {
    std::string program = support::EnvironmentVariable("PAGER");
    if (program.empty()) program = "less";
    ::setenv("LESS", "FRX", 0);
    std::fflush(stdout);
    // Without the pager, cat takes over.
    pipe_.reset(::popen((program + " || cat").c_str(), "w"));
  }
  /// False if the user has seen enough.
  bool Write(const std::string& text) {
    std::FILE* const file = pipe_ ? pipe_.get() : stdout;
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { ::pclose(file); }
  };
  std::unique_ptr<std::FILE, Close> pipe_;
};

}  // namespace

std::string TerminalLines(std::string_view bytes, std::string& rest) {
  std::string text;
  while (true) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    // What is beyond the bound is not shown.
    if (rest.size() <= kMaxLine) rest += part.substr(0, kMaxLine + 1);
    if (end == std::string_view::npos) return text;
    text += TerminalLine(rest);
    rest.clear();
    bytes.remove_prefix(end + 1);
  }
}

void PrintDiff(const SideRepository& side, bool only_names) {
  const bool on_terminal = ::isatty(STDOUT_FILENO) != 0;
  Git::Arguments arguments = {"diff", "--no-color", "--no-ext-diff", "--no-textconv",
                              "--no-renames"};
  if (only_names) {
    arguments.emplace_back("--stat");
  } else if (!on_terminal) {
    arguments.emplace_back("--binary");
  }
  arguments.insert(arguments.end(), {side.facts().sent, side.facts().work});
  if (!on_terminal && !only_names) {
    GitChild diff = side.git().Start(arguments, {.output = STDOUT_FILENO});
    if (diff.Finish() || diff.status() == 128 + SIGPIPE) return;
    throw support::CallError(kWhat + (": " + diff.Words()));
  }
  GitChild diff = side.git().Start(arguments, {});
  std::unique_ptr<Pager> pager;
  std::string rest;
  bool wanted = true;
  diff.Read([&](std::string_view bytes) {
    const std::string text = TerminalLines(bytes, rest);
    if (on_terminal && !pager) pager = std::make_unique<Pager>();
    if (wanted && pager) wanted = pager->Write(text);
    if (!pager) std::fwrite(text.data(), 1, text.size(), stdout);
    return wanted;
  });
  if (!wanted) return;
  if (!diff.Finish()) throw support::CallError(kWhat + (": " + diff.Words()));
}

std::vector<std::string> ChangedNames(const SideRepository& side, const std::string& from,
                                      const std::string& to) {
  const GitOutput names =
      side.git().Run({"diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to});
  if (!names.ok()) throw support::CallError(kWhat + (": " + names.words));
  return Split(names.output, '\0');
}

}  // namespace copy
