#include "agents/session.h"

#include <unistd.h>

#include "configure/stored_settings.h"
#include "support/paths.h"

namespace agents {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kOwnerOnly = 0600;

/// Directories that exist keep their mode.
void MakePrivateDirectories(const fs::path& directory) {
  if (fs::exists(directory)) return;
  MakePrivateDirectories(directory.parent_path());
  fs::create_directory(directory);
  fs::permissions(directory, fs::perms::owner_all);
}

void WriteLink(const fs::path& path, const std::string& target) {
  const fs::path temporary = path.string() + "." + std::to_string(::getpid());
  fs::remove(temporary);
  fs::create_symlink(target, temporary);
  fs::rename(temporary, path);
}

}  // namespace

SessionPlaces FindSessionPlaces(const fs::path& state, std::string_view agent,
                                const std::string& project, std::span<const std::string> options) {
  std::string all_options;
  for (const std::string& option : options) all_options.append(option).push_back('\0');
  const fs::path top = state / "run" / agent / configure::Digest(project);
  return {.directory = top / "work" / support::LastComponent(project),
          .home = top / "home",
          .control = top / "options" / configure::Digest(all_options)};
}

void WriteSessionFiles(const SessionPlaces& places, const Launch& launch) {
  for (const std::string& directory : {places.directory, places.home, places.control}) {
    MakePrivateDirectories(directory);
  }
  for (const SessionFile& file : launch.files) {
    MakePrivateDirectories(fs::path(file.path).parent_path());
    configure::StoredSettings(file.path, std::nullopt, kOwnerOnly).Write(file.text);
  }
  for (const SessionLink& link : launch.links) {
    MakePrivateDirectories(fs::path(link.path).parent_path());
    WriteLink(link.path, link.target);
  }
}

}  // namespace agents
