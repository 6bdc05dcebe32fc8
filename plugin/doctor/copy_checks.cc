#include "doctor/copy_checks.h"

#include <cstdlib>
#include <sstream>
#include <system_error>

#include "copy/copy.h"
#include "copy/git.h"
#include "doctor/programs.h"
#include "support/child.h"
#include "support/join.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr long kFewMegabytes = 1024;

std::string HostGit(const std::optional<fs::path>& git, const support::Context& context) {
  if (!git) return "";
  support::Child child({git->string(), "--version"});
  const std::string version = child.ReadLine(context).value_or("");
  return child.Finish(context) == 0 ? version : "";
}

}  // namespace

std::string DescribeCopy(const lima::InstanceConfiguration& instance, const copy::CopyFacts& facts,
                         guest::Guest& guest, const support::Context& context) {
  if (facts.sent.empty()) return facts.project + " (incomplete)";
  if (context.stop_reason() != support::StopReason::kNone) return facts.project + " (not asked)";
  try {
    copy::SideRepository side(copy::SidePlace(instance.directory(), facts.project));
    const copy::GuestState state = copy::Ask({side, guest, context});
    const std::string left = state.Summary();
    return facts.project + (left.empty() ? " (all taken)" : " (not taken: " + left + ")");
  } catch (const support::CallError& error) {
    return facts.project + " (" + error.what() + ")";
  }
}

CopyNeeds QueryCopyNeeds(guest::Guest& guest, const std::optional<fs::path>& git,
                         const support::Context& context) {
  std::istringstream answer(
      guest::CaptureScript(guest, {std::string(facts_program)}, context).output);
  CopyNeeds found{.host_git = HostGit(git, context)};
  std::string may_sudo;
  std::getline(answer, found.git);
  std::getline(answer, may_sudo);
  std::getline(answer, found.free_megabytes);
  found.may_sudo = may_sudo == "yes";
  return found;
}

Finding CheckCopies(const std::vector<std::string>& copies, const CopyNeeds& needs) {
  std::vector<std::string> problems;
  std::vector<std::string> advice;
  const auto warn = [&](const std::string& problem, const std::string& what_to_do) {
    problems.push_back(problem);
    advice.push_back(what_to_do);
  };
  if (!copy::IsNewEnough(needs.host_git, 34)) {
    warn("no git 2.34 or newer on this host", "install git on this host");
  }
  if (!copy::IsNewEnough(needs.git, 30)) {
    warn("no git 2.30 or newer in the guest", "in the guest: sudo apt-get install git");
  }
  if (!needs.may_sudo) {
    warn("sudo wants a password in the guest",
         "limactl mcp copy --copy-dir DIR, a directory that the guest's user can write");
  }
  if (std::strtol(needs.free_megabytes.c_str(), nullptr, 10) < kFewMegabytes) {
    warn("the guest has less than 1 GiB of disk space", "free some, or enlarge its disk");
  }
  const std::string list = copies.empty() ? "none yet" : "copies of " + support::Join(copies);
  if (problems.empty()) return Passed(list);
  return Warning(list + "; " + support::Join(problems, "; "), support::Join(advice, "; "));
}

}  // namespace doctor
