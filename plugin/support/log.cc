#include "support/log.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "support/printable.h"

namespace support {
namespace {

void LogLine(std::string_view level, std::string_view text) {
  std::string line = "limactl-mcp: ";
  line += level;
  line += ": ";
  line += Printable(text);
  line += '\n';
  // One write call keeps the line whole. A standard error that nobody reads must not stop the
  // server, and there is nowhere left to report to, so the rest is dropped.
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void LogInfo(std::string_view text) {
  LogLine("INFO", text);
}
void LogWarning(std::string_view text) {
  LogLine("WARNING", text);
}
void LogError(std::string_view text) {
  LogLine("ERROR", text);
}

}  // namespace support
