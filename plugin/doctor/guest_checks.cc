#include "doctor/guest_checks.h"

#include <nlohmann/json.hpp>

#include "find/find_script.h"
#include "mcp/tool.h"
#include "support/errors.h"
#include "support/units.h"
#include "support/utf8.h"
#include "tools/command_runner.h"

namespace doctor {
namespace {

constexpr int kNoGit = 3;  // exit status of the script
constexpr const char* kGitScript = "command -v git >/dev/null 2>&1 || exit 3; git --version";

constexpr std::size_t kShownOutput = 200;  // bytes of what a profile prints

constexpr const char* kLookAtShell =
    "see for yourself with limactl shell; the start-up files are ~/.profile, ~/.bash_profile, "
    "~/.bashrc and their like in the guest";

class NobodyListens final : public mcp::ProgressReporter {
 public:
  [[nodiscard]] bool requested() const override { return false; }
  void Report(const std::string& /*message*/) override {}
};

std::string Shorten(const std::string& text) {
  const std::string head = text.substr(0, kShownOutput);
  if (head.size() == text.size()) return text;
  return head.substr(0, support::ValidUtf8Prefix(head)) + "...";
}

std::string FirstLine(const std::string& text) {
  return support::ToUtf8(text.substr(0, text.find('\n')));
}

}  // namespace

Finding CheckSftp(guest::Guest& guest, const support::Context& context) {
  return Passed("starts in " + support::ToUtf8(guest.RealPath(".", context)));
}

Finding CheckShell(guest::Guest& guest, const std::string& shell, const support::Context& context) {
  tools::CommandRunner::Options options;
  options.command_timeout = std::chrono::milliseconds(0);  // the context has a limit
  tools::CommandRunner runner(options);
  NobodyListens nobody;
  const auto start = support::Clock::now();
  const nlohmann::json result =
      runner.Run(guest, {{"true"}, "/", shell}, context, nobody).structured;
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(support::Clock::now() - start);
  const std::string printed =
      result.value("stdout", std::string()) + result.value("stderr", std::string());
  const std::string error = result.value("error", std::string());
  if (!error.empty()) {
    return Failed(shell + " does not run `true`: " + error +
                      (printed.empty() ? "" : "; it prints: " + Shorten(printed)),
                  kLookAtShell);
  }
  if (!printed.empty()) {
    return Warning("start-up files of " + shell + " print: " + Shorten(printed),
                   "let them be silent where no terminal is: every command's output begins with "
                   "it. The files are ~/.profile, ~/.bash_profile, ~/.bashrc and their like");
  }
  if (took >= kSlowShell) {
    return Warning(shell + " takes " + support::FormatDuration(took) + " to start",
                   "every command waits for it: make the start-up files faster (~/.profile, "
                   "~/.bash_profile, ~/.bashrc and their like)");
  }
  return Passed(shell);
}

Finding CheckGit(guest::Guest& guest, const support::Context& context) {
  const guest::ScriptAnswer answer = guest::AskScript(guest, kGitScript, context);
  if (answer.exit_status == kNoGit) {
    return Warning("no git: search_file_content is slower without it, and nothing is ignored",
                   "install git in the guest");
  }
  if (answer.exit_status != 0) {
    return Warning("git --version fails in the guest", "install git anew in the guest");
  }
  return Passed(FirstLine(answer.output));
}

Finding CheckFind(guest::Guest& guest, const support::Context& context) {
  find::ListingRequest request;
  request.directory = "/";
  request.maximum_depth = 1;
  const guest::ScriptAnswer answer = guest::AskScript(guest, find::FindScript({request}), context);
  if (answer.exit_status == find::kNoFindStatus) {
    return Warning(
        "no usable find: glob and search_file_content walk directories one by one, and "
        "nothing is ignored",
        "install findutils in the guest");
  }
  // The script goes on after a find that fails, since it may only not have been permitted to see
  // all; but there is no "/" without a name in it.
  const bool has_names = answer.output.find(" ./") != std::string::npos;
  if (answer.exit_status != 0 || !has_names) {
    return Failed("find does not list / in the guest", "install findutils anew in the guest");
  }
  return Passed("lists /");
}

}  // namespace doctor
