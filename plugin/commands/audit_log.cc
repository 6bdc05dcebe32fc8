#include "commands/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "mcp/json_writer.h"
#include "support/units.h"
#include "support/errors.h"
#include "support/log.h"
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
    if (value.is_array()) {
      shortened.push_back(ShortenStrings(element));
    } else {
      shortened[key] = ShortenStrings(element);
    }
  }
  return shortened;
}

void AddArguments(mcp::ObjectWriter& object, const json& arguments) {
  const std::string text = mcp::ToJson(ShortenStrings(arguments));
  if (text.size() <= kMaximumAuditArguments) {
    object.RawMember("arguments", text);
  } else {
    object.Member("arguments", std::string_view(Shorten(text, kMaximumAuditArguments)));
  }
}

std::string_view NameOf(const mcp::CallRecord& record) {
  if (std::holds_alternative<mcp::ToolResult>(record.outcome)) return "succeeded";
  if (std::holds_alternative<mcp::Cancelled>(record.outcome)) return "cancelled";
  return record.started ? "failed" : "refused";
}

void AddOutcome(mcp::ObjectWriter& object, const mcp::CallRecord& record) {
  object.Member("outcome", NameOf(record));
  std::string error;
  if (const auto* failure = std::get_if<mcp::ToolFailure>(&record.outcome)) error = failure->text;
  if (const auto* refusal = std::get_if<mcp::ProtocolError>(&record.outcome)) {
    error = refusal->what();
  }
  if (const auto* result = std::get_if<mcp::ToolResult>(&record.outcome)) {
    const json& structured = result->structured;
    if (structured.contains("exit_code")) object.Member("exit_code", structured["exit_code"]);
    if (structured.contains("error")) error = structured["error"].get<std::string>();
  }
  if (!error.empty()) {
    object.Member("error", std::string_view(Shorten(error, kMaximumAuditText)));
  }
}

}  // namespace

std::string AuditLine(const mcp::CallRecord& record) {
  std::string line;
  mcp::ObjectWriter object(line);
  object.Member("time", std::string_view(support::FormatDate(record.received)));
  object.Member("tool", std::string_view(Shorten(record.tool, kMaximumAuditText)));
  AddArguments(object, record.arguments);
  AddOutcome(object, record);
  object.Member("duration_ms", json(record.duration.count()));
  object.End();
  return line + '\n';
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
