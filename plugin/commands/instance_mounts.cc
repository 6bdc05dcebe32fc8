#include "commands/instance_mounts.h"

#include <system_error>
#include <utility>

#include "lima/home.h"
#include "lima/host.h"
#include "lima/mounts.h"
#include "paths/directory_index.h"
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
                    ", then limactl edit " + instance + " --start --mount " +
                    shell::ShellQuote(project->string() + ":w"));
  } catch (const lima::ConfigurationError& error) {
    return Unusable(error.what());
  }
}

WritableMounts::WritableMounts(const lima::InstanceConfiguration& configuration) {
  for (const lima::Mount& mount : lima::ListMounts(configuration, lima::ReadHostFacts(), {})) {
    if (mount.writable) locations_.push_back({mount.location, Resolved(mount.location)});
  }
}

std::optional<std::string> WritableMounts::Above(const fs::path& path) const {
  for (const std::string& name : {support::CleanPath(path.string()), Resolved(path)}) {
    for (const Location& location : locations_) {
      const bool is_below =
          support::PathBelow(name, location.written) || support::PathBelow(name, location.resolved);
      if (is_below) return location.written;
    }
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
