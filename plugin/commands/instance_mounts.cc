#include "commands/instance_mounts.h"

#include <system_error>
#include <utility>

#include "lima/home.h"
#include "lima/host.h"
#include "lima/mounts.h"
#include "shell/shell_quote.h"
#include "support/paths.h"

namespace commands {
namespace {

namespace fs = std::filesystem;

/// `path` itself if its links cannot be resolved.
std::string Resolved(const fs::path& path) {
  std::error_code error;
  const std::string resolved = fs::weakly_canonical(path, error).string();
  return support::CleanPath(error ? path.string() : resolved);
}

/// The innermost mount that holds the project; null if there is none.
const lima::Mount* MountOf(const std::vector<lima::Mount>& mounts, const std::string& project) {
  paths::DirectoryIndex locations;
  for (std::size_t i = 0; i < mounts.size(); ++i) locations.Add(Resolved(mounts[i].location), i);
  const auto innermost = locations.Find(project);
  return innermost ? &mounts[innermost->value] : nullptr;
}

/// The value of limactl's flags for mounts. They take a comma-separated list, and so cannot name
/// every directory.
std::optional<std::string> MountFlag(const std::string& project) {
  if (project.find_first_of(",\"\n") != std::string::npos) return std::nullopt;
  return shell::ShellQuote(project + ":w");
}

std::string HowToMount(const std::string& instance, const std::string& project) {
  const auto flag = MountFlag(project);
  return "limactl stop " + instance + ", then limactl edit " + instance +
         (flag ? " --start --mount " + *flag : " --start, and add it");
}

/// With a name: without one, limactl start makes the instance "default".
std::string HowToMake(const std::string& instance, const std::optional<fs::path>& project) {
  const auto flag = project ? MountFlag(project->string()) : std::nullopt;
  return "limactl start --name " + instance + (flag ? " --mount-only " + *flag : "");
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
                    ", so every call would be refused: " + HowToMount(instance, project->string()));
  } catch (const lima::ConfigurationError& error) {
    return Unusable("the instance cannot be used as it is: " + std::string(error.what()));
  }
}

WritableMounts::WritableMounts(const lima::InstanceConfiguration& configuration) {
  for (const lima::Mount& mount : lima::ListMounts(configuration, lima::ReadHostFacts(), {})) {
    if (!mount.writable) continue;
    const std::string resolved = Resolved(mount.location);
    index_.Add(mount.location, locations_.size());
    index_.Add(resolved, locations_.size());
    locations_.push_back({mount.location, resolved});
  }
}

std::optional<std::string> WritableMounts::Above(const fs::path& path) const {
  for (const std::string& name : {support::CleanPath(path.string()), Resolved(path)}) {
    if (const auto match = index_.Find(name)) return locations_[match->value].written;
  }
  return std::nullopt;
}

std::optional<std::string> WritableMounts::Touching(const fs::path& path) const {
  if (auto above = Above(path)) return above;
  const std::string resolved = Resolved(path);
  for (const Location& location : locations_) {
    if (support::PathBelow(location.resolved, resolved)) return location.written;
  }
  return std::nullopt;
}

}  // namespace commands
