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

void SetDirectories(const fs::path& state, std::string_view agent, LaunchRequest& request) {
  std::string options;
  for (const std::string& word : request.server) options.append(word).push_back('\0');
  options += request.trust ? "trust" : "";
  const fs::path top = state / "run" / agent / configure::Digest(request.project);
  request.directory = top / "work" / support::LastComponent(request.project);
  request.home = top / "home";
  request.control = top / "options" / configure::Digest(options);
}

void WriteSessionFiles(const LaunchRequest& request, const Launch& launch) {
  for (const std::string& directory : {request.directory, request.home, request.control}) {
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
