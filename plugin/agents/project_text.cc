#include "agents/project_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "support/file_descriptor.h"
#include "support/paths.h"
#include "support/utf8.h"

namespace agents {

std::optional<std::string> ReadProjectText(const std::string& project, std::string_view name) {
  const std::string path = support::JoinPath(project, name);
  // O_NONBLOCK: a FIFO must not hold up the start.
  const support::FileDescriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  std::string text(kMaximumProjectText, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return support::ToUtf8(text);
}

std::string ProjectInstructions(const std::string& project,
                                std::span<const std::string_view> names) {
  std::string all;
  for (const std::string_view name : names) {
    const auto text = ReadProjectText(project, name);
    if (!text || text->empty()) continue;
    all.append("\n# ").append(name).append(" of the project\n\n").append(*text);
    if (!all.ends_with('\n')) all += '\n';
  }
  return all;
}

}  // namespace agents
