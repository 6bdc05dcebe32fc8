#include "commands/instance_note.h"

#include <system_error>
#include <utility>
#include <vector>

#include "lima/configuration.h"
#include "lima/home.h"
#include "lima/host.h"
#include "lima/mounts.h"
#include "paths/directory_index.h"
#include "shell/shell_quote.h"

namespace commands {
namespace {

namespace fs = std::filesystem;

/// The innermost mount that the project lies in; null if there is none.
const lima::MountLocation* MountOf(const std::vector<lima::MountLocation>& mounts,
                                   const std::string& project) {
  paths::DirectoryIndex locations;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    std::error_code error;
    const std::string location = fs::weakly_canonical(mounts[i].location, error).string();
    if (!error) locations.Add(location, i);
  }
  const auto innermost = locations.Find(project);
  return innermost ? &mounts[innermost->value] : nullptr;
}

/// Whether limactl's flags for mounts, whose value is a list with commas, can name it.
bool CanBeNamed(const std::string& project) {
  return project.find_first_of(",\"\n") == std::string::npos;
}

std::string HowToMount(const std::string& instance, const std::string& project) {
  const std::string edit = "limactl stop " + instance + ", then limactl edit " + instance;
  if (!CanBeNamed(project)) return edit + " --start, and add it";
  return edit + " --start --mount " + shell::ShellQuote(project + ":w");
}

/// With its name: limactl start alone makes the instance "default".
std::string HowToMake(const std::string& instance, const std::optional<fs::path>& project) {
  std::string start = "limactl start --name " + instance;
  if (!project || !CanBeNamed(project->string())) return start;
  return start + " --mount-only " + shell::ShellQuote(project->string() + ":w");
}

InstanceNote Unusable(std::string text) {
  return {.text = std::move(text), .is_usable = false};
}

}  // namespace

InstanceNote NoteOnInstance(const std::string& instance, const std::optional<fs::path>& project) {
  try {
    const fs::path lima_home = lima::HomeDirectory();
    if (!lima::InstanceExists(lima_home, instance)) {
      return Unusable("there is no Lima instance \"" + instance + "\" in " + lima_home.string() +
                      " yet; make it: " + HowToMake(instance, project));
    }
    if (!project) return {};
    const auto configuration = lima::LoadConfiguration(lima_home, instance);
    const auto mounts = lima::ListLocations(configuration, lima::ReadHostFacts(), {});
    const lima::MountLocation* mount = MountOf(mounts, project->string());
    if (mount != nullptr && mount->writable) return {};
    if (mount != nullptr) {
      return {.text = "the instance \"" + instance + "\" mounts " + mount->location +
                      " read-only: the agent can change nothing there."};
    }
    if (configuration.plain) {
      return Unusable("the instance \"" + instance +
                      "\" mounts nothing, as its configuration says plain: true; limactl edit " +
                      instance + " opens that.");
    }
    return Unusable(
        "the instance \"" + instance + "\" does not mount " + project->string() +
        ", so that every call will be refused: " + HowToMount(instance, project->string()));
  } catch (const lima::ConfigurationError& error) {
    return Unusable("the instance cannot be used as it is: " + std::string(error.what()));
  }
}

}  // namespace commands
