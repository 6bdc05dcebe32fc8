#include <optional>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "commands/mounted_project.h"
#include "copy/copy.h"

namespace commands {

int Diff(const std::vector<std::string>& arguments) {
  const auto parsed = Parse("diff", arguments);
  if (!parsed) return 0;
  const std::string instance = CopyInstance(*parsed);
  const std::uint64_t max_size = ReadMaxSize(*parsed);
  const bool only_names = (*parsed)["stat"].as<bool>();
  const std::string project = ReadProjectOption(*parsed);
  const auto mounted = project.empty() ? FindMountedProject(instance) : std::nullopt;
  if (mounted) {
    mounted->PrintDiff(only_names, max_size);
    return 0;
  }
  CopyCommand command(instance, project);
  command.RequireCopy();
  const copy::Target target = command.Connect();
  const copy::GuestState state = copy::Fetch(target, max_size, copy::Refs::kWorkOnly);
  const std::string from = copy::SentOrOlder(command.side());
  if (only_names) command.PrintReport(from, state.work, command.DefaultBranch());
  copy::PrintDiff(command.side().git(), {from, state.work}, only_names);
  if (only_names) command.PrintUntaken(target, state.untaken);
  return 0;
}

}  // namespace commands
