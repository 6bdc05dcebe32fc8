#include "agents/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "configure/stored_settings.h"
#include "support/file_descriptor.h"
#include "support/paths.h"

namespace agents {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOwnerOnly = 0600;

[[noreturn]] void ThrowErrno(const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), path.string());
}

/// Directories that exist keep their mode.
void MakePrivateDirectories(const fs::path& directory) {
  if (fs::exists(directory)) return;
  MakePrivateDirectories(directory.parent_path());
  fs::create_directory(directory);
  fs::permissions(directory, fs::perms::owner_all);
}

fs::path TemporaryName(const fs::path& path) {
  return path.string() + "." + std::to_string(::getpid());
}

void WriteFile(const fs::path& path, std::string_view text) {
  const fs::path temporary = TemporaryName(path);
  {
    const support::FileDescriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly));
    if (!file.valid()) ThrowErrno(temporary);
    while (!text.empty()) {
      const ssize_t count = ::write(file.get(), text.data(), text.size());
      if (count < 0 && errno != EINTR) ThrowErrno(temporary);
      if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  fs::rename(temporary, path);
}

void WriteLink(const fs::path& path, const std::string& target) {
  const fs::path temporary = TemporaryName(path);
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
    WriteFile(file.path, file.text);
  }
  for (const SessionLink& link : launch.links) {
    MakePrivateDirectories(fs::path(link.path).parent_path());
    WriteLink(link.path, link.target);
  }
}

}  // namespace agents
