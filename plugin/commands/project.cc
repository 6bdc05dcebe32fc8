#include "commands/project.h"

#include <system_error>

#include "commands/commands.h"

namespace commands {

std::filesystem::path FindProject(const std::string& home, std::string_view otherwise) {
  std::error_code error;
  std::filesystem::path project = std::filesystem::current_path(error);
  if (error) throw UsageError("the current directory is gone; change to your project");
  const bool is_home = std::filesystem::equivalent(project, home, error);
  if (is_home || project == project.root_path()) {
    throw UsageError(project.string() +
                     (is_home ? " is your home directory" : " is the root directory") +
                     "; run this inside a project" + std::string(otherwise));
  }
  return project;
}

}  // namespace commands
