// SPDX-License-Identifier: Apache-2.0
#include "commands/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "support/errors.h"
#include "support/log.h"
#include "support/units.h"
#include "support/utf8.h"

namespace commands {
namespace {

using nlohmann::json;

// In the order of mcp::CallStatus.
constexpr std::array<std::string_view, 4> kOutcomes = {"succeeded", "failed", "refused",
                                                       "cancelled"};

std::string Shorten(std::string_view text) {
  if (text.size() <= kMaxAuditText) return std::string(text);
  const std::string_view kept = support::CutText(text, kMaxAuditText);
  return support::Format("{}… [{} more bytes]", kept, text.size() - kept.size());
}

}  // namespace

std::string AuditLine(const mcp::ObservedCall& call, const mcp::Outcome* end) {
  json arguments = call.arguments;
  for (const char* name : {"content", "old_string", "new_string"}) {
    const auto text = arguments.is_object() ? arguments.find(name) : arguments.end();
    if (text != arguments.end() && text->is_string()) *text = Shorten(text->get<std::string>());
  }
  nlohmann::ordered_json line = {{"time", support::FormatDate(call.received)},
                                 {"pid", ::getpid()},
                                 {"number", call.number},
                                 {"tool", Shorten(call.tool)},
                                 {"arguments", std::move(arguments)},
                                 {"outcome", "started"}};
  if (end != nullptr) {
    line["outcome"] = kOutcomes.at(static_cast<std::size_t>(end->status));
    if (end->exit_code) line["exit_code"] = *end->exit_code;
    if (!end->error.empty()) line["error"] = Shorten(end->error);
    line["duration_ms"] = end->duration.count();
  }
  constexpr bool kAscii = true;
  return line.dump(-1, ' ', kAscii, json::error_handler_t::replace) + '\n';
}

// O_NONBLOCK: a FIFO without a reader is an error.
AuditLog::AuditLog(const std::string& path)
    : path_(path),
      file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                   0600)) {
  if (file_.valid()) return;
  throw support::Error("--audit {}: cannot be opened for appending: {}", path,
                       std::generic_category().message(errno));
}

void AuditLog::Record(const mcp::ObservedCall& call, const mcp::Outcome* end) {
  const std::string line = AuditLine(call, end);
  errno = 0;
  if (::write(file_.get(), line.data(), line.size()) == std::ssize(line)) return;
  support::LogError(support::Format("--audit {}: a line cannot be written: {}", path_,
                                    std::generic_category().message(errno == 0 ? ENOSPC : errno)));
}

}  // namespace commands
