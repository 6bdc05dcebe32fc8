#include "commands/commands.h"
#include "commands/copy_command.h"
#include "commands/mounted_project.h"
#include "copy/copy.h"

namespace commands {

int Diff(const std::vector<std::string>& arguments) {
  OptionParser parser("diff",
                      "Show what was changed in the copy of the project, or, on a mount, what "
                      "differs from HEAD; into a pipe, as a patch for git apply",
                      "[INSTANCE]", 1);
  parser.AddOptions()("stat", "Only names, with numbers of lines");
  AddMaxSize(parser);
  const auto parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const std::string instance = CopyInstance(*parsed);
  const std::uint64_t max_size = ReadMaxSize(*parsed);
  const bool only_names = (*parsed)["stat"].as<bool>();
  if (const auto mounted = FindMountedProject(instance)) {
    mounted->PrintDiff(only_names, max_size);
    return 0;
  }
  CopyCommand command(instance, "");
  command.RequireCopy();
  copy::Fetch(command.Connect(), max_size);
  const copy::CopyFacts& facts = command.side().facts();
  if (only_names) (void)command.PrintReport(facts.sent, command.DefaultBranch());
  copy::PrintDiff(command.side().git(), {facts.sent, facts.work}, only_names);
  return 0;
}

}  // namespace commands
