#include "commands/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "mcp/json_writer.h"
#include "support/date.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/utf8.h"

namespace commands {
namespace {

using nlohmann::json;

constexpr int kOwnerOnly = 0600;

/// O_NONBLOCK: neither opening a FIFO nor a full pipe may hold up a call.
support::FileDescriptor Open(const std::string& path, int flags) {
  return support::FileDescriptor(
      ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, kOwnerOnly));
}

constexpr int kAppend = O_WRONLY | O_APPEND | O_CREAT;

bool IsSameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Of a regular file that is open for writing and may be read by its name.
std::optional<bool> EndsWithinALine(int file, const std::string& path) {
  struct stat opened {};
  struct stat found {};
  if (::fstat(file, &opened) != 0 || !S_ISREG(opened.st_mode)) return std::nullopt;
  const support::FileDescriptor reader = Open(path, O_RDONLY);
  if (!reader.valid() || ::fstat(reader.get(), &found) != 0) return std::nullopt;
  if (!IsSameFile(opened, found)) return std::nullopt;
  if (found.st_size == 0) return false;
  char last = '\0';
  if (::pread(reader.get(), &last, 1, found.st_size - 1) != 1) return std::nullopt;
  return last != '\n';
}

std::string ErrnoText(int number) {
  return std::generic_category().message(number);
}

std::string ShortenText(std::string_view text) {
  if (text.size() <= kMaximumAuditText) return std::string(text);
  const std::string_view head = text.substr(0, kMaximumAuditText);
  std::size_t kept = support::ValidUtf8Prefix(head);
  constexpr std::size_t kLongestSequence = 4;
  if (kept + kLongestSequence <= head.size()) kept = head.size();  // other bytes than UTF-8
  return std::string(text.substr(0, kept)) + "… [" + std::to_string(text.size() - kept) +
         " more bytes]";
}

/// Copies a value until the room for all arguments is used up.
class Shortener {
 public:
  json Shorten(const json& value, int depth) {
    if (value.is_string()) return Keep(ShortenText(value.get_ref<const std::string&>()));
    // A whole number of more than 64 bits is kept as its digits.
    const std::size_t digits = value.is_binary() ? value.get_binary().size() : 0;
    room_ -= std::min(room_, kSmallValue + digits);
    if (!value.is_structured()) return value;
    if (depth == kMaximumAuditDepth) return Keep("[nested too deep to be shown]");
    return value.is_array() ? ShortenArray(value, depth) : ShortenObject(value, depth);
  }

 private:
  static constexpr std::size_t kSmallValue = 8;  // a number, a truth value, the marks around

  std::string Keep(std::string text) {
    room_ -= std::min(room_, text.size() + kSmallValue);
    return text;
  }

  static std::string More(std::size_t count) {
    return "[" + std::to_string(count) + " more elements]";
  }

  json ShortenArray(const json& value, int depth) {
    json shortened = json::array();
    for (const json& element : value) {
      if (room_ == 0) {
        shortened.push_back(More(value.size() - shortened.size()));
        break;
      }
      shortened.push_back(Shorten(element, depth + 1));
    }
    return shortened;
  }

  json ShortenObject(const json& value, int depth) {
    json shortened = json::object();
    std::size_t shown = 0;
    for (const auto& [key, element] : value.items()) {
      if (room_ == 0) {
        shortened["…"] = More(value.size() - shown);
        break;
      }
      std::string name = ShortenText(key);
      while (shortened.contains(name)) name += '\'';  // two long ones that begin alike
      shortened[Keep(std::move(name))] = Shorten(element, depth + 1);
      ++shown;
    }
    return shortened;
  }

  std::size_t room_ = kMaximumAuditArguments;
};

std::string_view NameOf(const mcp::CallRecord& record) {
  if (std::holds_alternative<mcp::ToolResult>(record.outcome)) return "succeeded";
  if (std::holds_alternative<mcp::Withdrawn>(record.outcome)) return "cancelled";
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
    const auto exit_code = structured.find("exit_code");
    if (exit_code != structured.end()) object.Member("exit_code", *exit_code);
    const auto told = structured.find("error");
    if (told != structured.end() && told->is_string()) error = told->get<std::string>();
  }
  if (!error.empty()) object.Member("error", std::string_view(ShortenText(error)));
}

}  // namespace

json ShortenArguments(const json& arguments) {
  return Shortener().Shorten(arguments, 0);
}

std::string AuditLine(const mcp::CallRecord& record) {
  std::string line;
  mcp::ObjectWriter object(line);
  object.Member("time", std::string_view(support::FormatDate(record.received)));
  object.Member("tool", std::string_view(ShortenText(record.tool)));
  object.Member("arguments", ShortenArguments(record.arguments));
  AddOutcome(object, record);
  object.Member("duration_ms", json(record.duration.count()));
  object.End();
  return line + '\n';
}

AuditLog::AuditLog(const std::string& path) : path_(path) {
  support::FileDescriptor file = Open(path, kAppend);
  if (!file.valid()) {
    throw support::CallError("--audit " + path +
                             ": cannot be opened for appending: " + ErrnoText(errno));
  }
  Use(std::move(file));
}

void AuditLog::Use(support::FileDescriptor file) {
  file_ = std::move(file);
  line_is_open_ = EndsWithinALine(file_.get(), path_).value_or(false);
}

/// A record in a file that has no name any more is kept for nobody.
void AuditLog::FollowMovedFile() {
  struct stat opened {};
  struct stat named {};
  // A pipe or a device is not looked for again.
  if (::fstat(file_.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return;
  const bool is_there = ::stat(path_.c_str(), &named) == 0;
  if (is_there ? IsSameFile(opened, named) : errno != ENOENT) return;
  // Only the user may send records elsewhere, when the program starts.
  support::FileDescriptor file = Open(path_, kAppend | O_NOFOLLOW);
  const int error = errno;
  if (file.valid()) {
    told_of_move_ = false;
    return Use(std::move(file));
  }
  if (std::exchange(told_of_move_, true)) return;
  support::LogError("--audit " + path_ + ": was moved or removed, and cannot be opened anew (" +
                    ErrnoText(error) + "); records go on into the file that was there");
}

void AuditLog::OnCallEnded(const mcp::CallRecord& record) {
  std::string line = AuditLine(record);
  const std::scoped_lock lock(mutex_);
  Append(std::move(line));
}

void AuditLog::Append(std::string line) {
  FollowMovedFile();
  // Where the disk was full, another server may have left half a line, or ended ours. Not looked at
  // each time: one that is just writing would seem to have left half a line, too.
  if (lost_ > 0) line_is_open_ = EndsWithinALine(file_.get(), path_).value_or(line_is_open_);
  if (line_is_open_) line.insert(0, 1, '\n');
  ssize_t written = -1;
  do {
    written = ::write(file_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  const int error = written < 0 ? errno : ENOSPC;  // less than all: there is no room for the rest
  if (written == static_cast<ssize_t>(line.size())) {
    if (lost_ > 0) {
      support::LogWarning("--audit " + path_ +
                          ": can be written again; records lost: " + std::to_string(lost_));
    }
    lost_ = 0;
    line_is_open_ = false;
    return;
  }
  if (written > 0) line_is_open_ = true;
  if (lost_++ == 0) {
    support::LogError("--audit " + path_ + ": cannot be written (" + ErrnoText(error) +
                      "); calls go on without a record");
  }
}

}  // namespace commands
