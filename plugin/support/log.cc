// SPDX-License-Identifier: Apache-2.0
#include "support/log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <mutex>
#include <string>

#include "support/format.h"
#include "support/printable.h"

namespace support {
namespace {

/// Whether PIPE_BUF bytes can be written to standard error without waiting.
bool MayWrite() {
  pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
  return ::poll(&standard_error, 1, 0) > 0;
}

void LogLine(std::string_view level, std::string_view text) {
  const std::string line = Format("limactl-mcp: {}: {}\n", level, Printable(text));
  // A pipe that is not read must not block the server, so the rest is dropped. Only one thread at a
  // time, because poll() would report the same room to two.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  std::string_view rest = line;
  while (!rest.empty() && MayWrite()) {
    const std::size_t length = std::min<std::size_t>(rest.size(), PIPE_BUF);
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), length);
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
