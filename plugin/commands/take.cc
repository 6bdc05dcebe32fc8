#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "commands/project.h"
#include "copy/copy.h"
#include "support/units.h"

namespace commands {
namespace {

/// Asks before protected files are applied.
void RequireConsent(std::size_t protected_files) {
  const std::string text =
      "Programs on this host obey " + support::Count(protected_files, "file") + " of this change";
  const auto is_wanted = AskUser(text + ". Apply? [y/N] ", false);
  if (!is_wanted) throw support::CallError(text + ". To apply it all the same: --yes");
  if (!*is_wanted) throw support::CallError("Nothing was changed.");
}

int Apply(CopyCommand& command, bool yes, std::uint64_t max_size) {
  const copy::SideRepository& side = command.side();
  const std::string from = side.facts().applied;
  if (side.facts().work == from) {
    std::cout << "Nothing to take.\n";
    return 0;
  }
  const std::size_t files = copy::CountChanged(side, from, side.facts().work);
  const std::size_t protected_files = command.PrintReport(from, command.DefaultBranch());
  if (protected_files > 0 && !yes) RequireConsent(protected_files);
  copy::ApplyWork(command.users(), command.side(), max_size);
  std::cout << support::Count(files, "file") << " changed in the working tree.\n";
  return 0;
}

void ReportBranch(const copy::Taken& taken, const copy::SideRepository& side,
                  const std::string& instance) {
  if (taken.had_it) {
    std::cout << "Branch " << taken.branch << " has it already.\n";
    return;
  }
  const std::string sent = side.facts().sent;
  const std::string work = side.facts().work;
  const std::string commits = side.git().Run({"rev-list", "--count", work, "^" + sent}).Line();
  std::cout << "Branch " << taken.branch << ": "
            << support::Count(std::stoull("0" + commits), "commit") << ", "
            << support::Count(copy::CountChanged(side, sent, work), "file") << " changed.\n";
  if (sent == side.facts().base) return;
  std::cerr
      << "Note: it contains your own uncommitted and untracked files: do not push it as it is.\n"
         "Your working tree has changes, so git merge will refuse. Only the agent's part: "
         "limactl mcp diff "
      << instance << " | git apply\n";
}

}  // namespace

int Take(const std::vector<std::string>& arguments) {
  OptionParser parser("take", "Bring what was changed in the copy of the project back, as a branch",
                      "[INSTANCE]", 1);
  parser.AddOptions()("apply", "Change the working tree instead: all of it or nothing")(
      "yes", "With --apply: do not ask, whatever the change contains")(
      "branch", "The name of the branch", cxxopts::value<std::string>(), "NAME");
  AddMaxSize(parser);
  const auto parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const std::string instance = CopyInstance(*parsed);
  const std::uint64_t max_size = ReadMaxSize(*parsed);
  const bool apply = (*parsed)["apply"].as<bool>();
  CopyCommand command(instance, "");
  command.RequireCopy();
  copy::SideRepository& side = command.side();
  const copy::Git users = command.users();
  const std::string branch =
      parsed->count("branch") > 0 ? (*parsed)["branch"].as<std::string>() : command.DefaultBranch();
  if (!apply) copy::RequireBranchName(users, branch);
  const copy::GuestState state = copy::Fetch(command.Connect(), max_size);
  for (const std::string& link : state.links) {
    std::cerr << "Note: not taken, since it is a repository of its own: " << link << '\n';
  }
  if (state.others > 0) {
    std::cerr << "Note: not taken: " << support::Count(state.others, "commit")
              << " on other branches or in stashes.\n";
  }
  if (apply) return Apply(command, (*parsed)["yes"].as<bool>(), max_size);
  if (state.work == side.facts().sent) {
    std::cout << "Nothing to take.\n";
    return 0;
  }
  const copy::Taken taken = copy::TakeBranch(users, side, branch);
  (void)command.PrintReport(side.facts().sent, taken.branch);
  ReportBranch(taken, side, instance);
  return 0;
}

}  // namespace commands
