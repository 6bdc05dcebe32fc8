#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "copy/copy.h"

namespace commands {

int Drop(const std::vector<std::string>& arguments) {
  OptionParser parser("drop", "Delete the copy of the project, unless something was not taken",
                      "[INSTANCE]", 1);
  parser.AddOptions()("force", "Also delete what was not taken")(
      "project", "A project that was moved or deleted", cxxopts::value<std::string>(), "DIR");
  const auto parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const bool force = (*parsed)["force"].as<bool>();
  const bool named = parsed->count("project") > 0;
  CopyCommand command(CopyInstance(*parsed), named ? (*parsed)["project"].as<std::string>() : "");
  const copy::SidePlace& place = command.side().place();
  if (!place.ReadFacts()) throw support::CallError(place.NoCopyText());
  copy::Drop(command.Connect(), force);
  std::cout << "Dropped.\n";
  return 0;
}

}  // namespace commands
