// SPDX-License-Identifier: Apache-2.0
#include "commands/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <string_view>
#include <system_error>

#include "support/errors.h"
#include "support/log.h"
#include "support/sha256.h"
#include "support/units.h"
#include "support/utf8.h"

namespace commands {
namespace {

using support::Format;

using nlohmann::json;

/// O_NONBLOCK: neither a FIFO nor a full pipe may delay a call.
support::FileDescriptor OpenForAppending(const std::string& path, int flags = 0) {
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  return support::FileDescriptor(::open(path.c_str(), kFlags | flags, 0600));
}

std::string Shorten(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  const std::string_view kept = support::CutText(text, limit);
  return Format("{}… [{} more bytes]", kept, text.size() - kept.size());
}

template <typename Json>
std::string ToText(const Json& value, bool ascii) {
  return value.dump(-1, ' ', ascii, Json::error_handler_t::replace);
}

/// The ends of a long text, and what identifies it.
json Abridge(std::string_view text) {
  constexpr std::size_t kEnd = kMaxAuditArgument / 2;
  return {{"head", text.substr(0, kEnd)},
          {"tail", text.substr(text.size() - kEnd)},
          {"bytes", text.size()},
          {"sha256", support::Sha256(text)}};
}

json ShortenArgument(std::string_view name, const json& value) {
  const bool is_contents = name == "content" || name == "old_string" || name == "new_string";
  const std::string text = value.is_string() ? value.get<std::string>() : ToText(value, false);
  if (is_contents && value.is_string()) return Shorten(text, kMaxAuditText);
  return text.size() <= kMaxAuditArgument ? value : Abridge(text);
}

json ShortenArguments(const json& arguments) {
  json shortened = json::object();
  for (const auto& [name, value] : arguments.items()) {
    shortened[name] = ShortenArgument(name, value);
  }
  const std::string text = ToText(shortened, false);
  return text.size() <= kMaxAuditArguments ? shortened : Abridge(text);
}

// Names, in the order of mcp::CallStatus.
constexpr std::array<std::string_view, 4> kOutcomes = {"succeeded", "failed", "refused",
                                                       "cancelled"};

}  // namespace

std::string AuditLine(const mcp::ObservedCall& call, const mcp::Outcome* end) {
  nlohmann::ordered_json line = {{"time", support::FormatDate(call.received)},
                                 {"pid", ::getpid()},
                                 {"number", call.number},
                                 {"tool", Shorten(call.tool, kMaxAuditText)},
                                 {"arguments", ShortenArguments(call.arguments)},
                                 {"outcome", "started"}};
  if (end != nullptr) {
    line["outcome"] = kOutcomes.at(static_cast<std::size_t>(end->status));
    if (end->exit_code) line["exit_code"] = *end->exit_code;
    if (!end->error.empty()) line["error"] = Shorten(end->error, kMaxAuditText);
    line["duration_ms"] = end->duration.count();
  }
  return ToText(line, true) + '\n';
}

AuditLog::AuditLog(const std::string& path) : path_(path), file_(OpenForAppending(path)) {
  if (file_.valid()) return;
  throw support::CommandError("--audit {}: cannot be opened for appending: {}", path,
                              std::generic_category().message(errno));
}

void AuditLog::Record(const mcp::ObservedCall& call, const mcp::Outcome* end) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    ReopenIfMoved();
    const std::string line = AuditLine(call, end);
    const ssize_t written = ::write(file_.get(), line.data(), line.size());
    if (written != std::ssize(line)) {
      throw std::system_error(written < 0 ? errno : ENOSPC, std::generic_category());
    }
    if (lost_ > 0) {
      support::LogWarning(
          Format("--audit {}: can be written again; records lost: {}", path_, lost_));
    }
    lost_ = 0;
  } catch (const std::exception& error) {
    if (lost_++ > 0) return;
    support::LogError(Format("--audit {}: cannot be written ({}); calls continue without a record",
                             path_, error.what()));
  }
}

void AuditLog::ReopenIfMoved() {
  if (file_.valid()) {
    struct stat opened {};
    struct stat named {};
    if (::fstat(file_.get(), &opened) != 0) throw std::system_error(errno, std::generic_category());
    if (!S_ISREG(opened.st_mode)) return;  // a pipe or a device
    const bool found = ::stat(path_.c_str(), &named) == 0;
    if (found && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino) return;
    file_.Close();
  }
  file_ = OpenForAppending(path_, O_NOFOLLOW);
  if (!file_.valid()) throw std::system_error(errno, std::generic_category());
}

}  // namespace commands
