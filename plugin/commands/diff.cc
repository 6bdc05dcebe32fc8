#include <csignal>
#include <memory>

#include "commands/commands.h"
#include "commands/copied_work.h"
#include "commands/copy_command.h"
#include "commands/work.h"

namespace commands {

int Diff(const std::vector<std::string>& arguments) {
  OptionParser parser("diff",
                      "Show what was changed in the copy of the project, or, on a mount, what "
                      "differs from HEAD; into a pipe, as a patch for git apply",
                      "[INSTANCE]", 1);
  parser.AddOptions()("stat", "Only names, with numbers of lines");
  AddProject(parser);
  AddMaxSize(parser);
  const auto parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const std::string instance = CopyInstance(*parsed);
  const std::uint64_t max_size = ReadMaxSize(*parsed);
  const bool only_names = (*parsed)["stat"].as<bool>();
  const std::string project = ReadProjectOption(*parsed);
  const Instance loaded = LoadInstance(instance);
  loaded.RequireOutOfReach(loaded.configuration.directory());
  (void)::signal(SIGPIPE, SIG_IGN);  // a pager that stops reading is an error of write()
  const auto work =
      project.empty() ? FindWork(loaded) : std::make_unique<CopiedWork>(loaded, project);
  work->PrintDiff(only_names, max_size);
  return 0;
}

}  // namespace commands
