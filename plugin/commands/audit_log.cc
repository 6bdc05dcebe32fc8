#include "commands/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <variant>

#include "support/errors.h"
#include "support/log.h"
#include "support/units.h"
#include "support/utf8.h"

namespace commands {
namespace {

using nlohmann::json;

/// O_NONBLOCK: neither a FIFO nor a full pipe may delay a call.
support::FileDescriptor OpenForAppending(const std::string& path, int flags = 0) {
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  return support::FileDescriptor(::open(path.c_str(), kFlags | flags, 0600));
}

std::string ErrnoText(int number) {
  return std::generic_category().message(number);
}

std::string Shorten(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  const std::string_view head = text.substr(0, limit);
  std::size_t kept = support::ValidUtf8Prefix(head);
  constexpr std::size_t kLongestCharacter = 4;
  if (kept + kLongestCharacter <= limit) kept = limit;  // not UTF-8 anyway
  return std::string(text.substr(0, kept)) + "… [" + std::to_string(text.size() - kept) +
         " more bytes]";
}

/// A copy with each string cut.
json ShortenStrings(const json& value) {
  if (value.is_string()) return Shorten(value.get_ref<const std::string&>(), kMaximumAuditText);
  if (!value.is_structured()) return value;
  json shortened = value.is_array() ? json::array() : json::object();
  for (const auto& [key, element] : value.items()) {
    (value.is_array() ? shortened.emplace_back() : shortened[key]) = ShortenStrings(element);
  }
  return shortened;
}

template <typename Json>
std::string ToText(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

json ShortenArguments(const json& arguments) {
  json shortened = ShortenStrings(arguments);
  const std::string text = ToText(shortened);
  if (text.size() > kMaximumAuditArguments) return Shorten(text, kMaximumAuditArguments);
  return shortened;
}

std::string_view NameOf(const mcp::CallRecord& record) {
  if (std::holds_alternative<mcp::ToolResult>(record.outcome)) return "succeeded";
  if (std::holds_alternative<mcp::Cancelled>(record.outcome)) return "cancelled";
  return record.started ? "failed" : "refused";
}

}  // namespace

std::string AuditLine(const mcp::CallRecord& record) {
  nlohmann::ordered_json line = {{"time", support::FormatDate(record.received)},
                                 {"tool", Shorten(record.tool, kMaximumAuditText)},
                                 {"arguments", ShortenArguments(record.arguments)},
                                 {"outcome", NameOf(record)}};
  std::string error;
  if (const auto* failure = std::get_if<mcp::ToolFailure>(&record.outcome)) error = failure->text;
  if (const auto* refusal = std::get_if<mcp::ProtocolError>(&record.outcome)) {
    error = refusal->what();
  }
  if (const auto* result = std::get_if<mcp::ToolResult>(&record.outcome)) {
    if (result->exit_code) line["exit_code"] = *result->exit_code;
    error = result->error;
  }
  if (!error.empty()) line["error"] = Shorten(error, kMaximumAuditText);
  line["duration_ms"] = record.duration.count();
  return ToText(line) + '\n';
}

AuditLog::AuditLog(const std::string& path) : path_(path), file_(OpenForAppending(path)) {
  if (file_.valid()) return;
  throw support::CallError("--audit " + path +
                           ": cannot be opened for appending: " + ErrnoText(errno));
}

void AuditLog::OnCallEnded(const mcp::CallRecord& record) {
  const std::string line = AuditLine(record);
  const std::scoped_lock lock(mutex_);
  const int error = Append(line);
  if (error == 0) {
    if (lost_ > 0) {
      support::LogWarning("--audit " + path_ +
                          ": can be written again; records lost: " + std::to_string(lost_));
    }
    lost_ = 0;
  } else if (lost_++ == 0) {
    support::LogError("--audit " + path_ + ": cannot be written (" + ErrnoText(error) +
                      "); calls continue without a record");
  }
}

int AuditLog::Append(const std::string& line) {
  if (const int error = ReopenIfMoved()) return error;
  ssize_t written = -1;
  do {
    written = ::write(file_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return errno;
  return written == std::ssize(line) ? 0 : ENOSPC;
}

int AuditLog::ReopenIfMoved() {
  if (file_.valid()) {
    struct stat opened {};
    struct stat named {};
    if (::fstat(file_.get(), &opened) != 0) return errno;
    if (!S_ISREG(opened.st_mode)) return 0;  // a pipe or a device
    const bool found = ::stat(path_.c_str(), &named) == 0;
    if (found && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino) return 0;
    file_.Close();
  }
  file_ = OpenForAppending(path_, O_NOFOLLOW);
  return file_.valid() ? 0 : errno;
}

}  // namespace commands
