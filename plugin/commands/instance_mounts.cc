#include "commands/instance_mounts.h"

#include <utility>

#include "lima/home.h"
#include "lima/host.h"
#include "lima/mounts.h"
#include "paths/directory_index.h"
#include "shell/shell_quote.h"

namespace commands {
namespace {

namespace fs = std::filesystem;

/// The innermost mount that holds the project; null if there is none.
const lima::Mount* MountOf(const std::vector<lima::Mount>& mounts, const std::string& project) {
  paths::DirectoryIndex locations;
  for (std::size_t i = 0; i < mounts.size(); ++i)
    locations.Add(paths::Resolved(mounts[i].location), i);
  const auto innermost = locations.Find(project);
  return innermost ? &mounts[innermost->value] : nullptr;
}

InstanceNote Unusable(std::string text) {
  return {.text = std::move(text), .is_usable = false};
}

}  // namespace

InstanceNote NoteOnInstance(const std::string& instance, const std::optional<fs::path>& project) {
  try {
    const fs::path lima_home = lima::HomeDirectory();
    lima::RequireInstance(lima_home, instance);
    if (!project) return {};
    const auto configuration = lima::LoadConfiguration(lima_home, instance);
    const auto mounts = lima::ListMounts(configuration, lima::ReadHostFacts(), {});
    const lima::Mount* mount = MountOf(mounts, project->string());
    if (mount != nullptr && mount->writable) return {};
    if (mount != nullptr) {
      return {.text = "the instance \"" + instance + "\" mounts " + mount->location +
                      " read-only: the agent can change nothing there."};
    }
    if (configuration.plain) {
      return Unusable("the instance \"" + instance +
                      "\" mounts nothing, since its configuration has plain: true; change that "
                      "with limactl edit " +
                      instance);
    }
    return Unusable("the instance \"" + instance + "\" does not mount " + project->string() +
                    ", so every call would be refused: limactl stop " + instance +
                    ", then limactl edit " + instance + " --start --mount-only " +
                    shell::ShellQuote(project->string() + ":w"));
  } catch (const lima::ConfigurationError& error) {
    return Unusable(error.what());
  }
}

paths::GuestReach ReachOf(const std::string& instance) {
  try {
    const auto configuration = lima::LoadConfiguration(lima::HomeDirectory(), instance);
    return paths::GuestReach(lima::ListMounts(configuration, lima::ReadHostFacts(), {}));
  } catch (const lima::ConfigurationError&) {
    return {};
  }
}

}  // namespace commands
