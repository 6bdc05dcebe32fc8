#include "commands/commands.h"
#include "commands/copy_command.h"
#include "copy/copy.h"

namespace commands {

int Diff(const std::vector<std::string>& arguments) {
  OptionParser parser("diff",
                      "Show what was changed in the copy of the project; into a pipe, as a patch "
                      "for git apply",
                      "[INSTANCE]", 1);
  parser.AddOptions()("stat", "Only names, with numbers of lines");
  AddMaxSize(parser);
  const auto parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const std::uint64_t max_size = ReadMaxSize(*parsed);
  CopyCommand command(CopyInstance(*parsed), "");
  command.RequireCopy();
  copy::Fetch(command.Connect(), max_size);
  const bool only_names = (*parsed)["stat"].as<bool>();
  if (only_names) (void)command.PrintReport(command.side().facts().sent, command.DefaultBranch());
  copy::PrintDiff(command.side(), only_names);
  return 0;
}

}  // namespace commands
