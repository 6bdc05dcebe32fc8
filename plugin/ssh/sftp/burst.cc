#include "ssh/sftp/burst.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"
#include "support/printable.h"

namespace ssh {
namespace {

namespace request = guest::request;
using guest::FileErrorCode;

constexpr const char* kWrongAnswer = "the guest's SFTP server sent an unexpected kind of reply";

FileErrorCode CodeOf(SftpStatusCode code) {
  switch (code) {
    case SftpStatusCode::kNoSuchFile:
      return FileErrorCode::kNotFound;
    case SftpStatusCode::kPermissionDenied:
      return FileErrorCode::kPermissionDenied;
    case SftpStatusCode::kUnsupported:
      return FileErrorCode::kUnsupported;
    default:
      return FileErrorCode::kFailure;
  }
}

/// The server's message; empty for OpenSSH's messages, which only repeat the code.
std::string Detail(const SftpStatus& status) {
  for (const char* plain :
       {"Failure", "No such file", "Permission denied", "Success", "Operation unsupported"}) {
    if (status.message == plain) return {};
  }
  return support::Printable(std::string_view(status.message).substr(0, kMaximumServerText));
}

struct Target {
  std::string path;              ///< for messages
  std::uint64_t channel_number;  ///< of its handle; 0 if it has none
};

Target TargetOf(const guest::Request& request) {
  return std::visit(
      [](const auto& specific) -> Target {
        if constexpr (requires { specific.handle; }) {
          return {specific.handle.path, specific.handle.channel};
        } else if constexpr (requires { specific.path; }) {
          return {specific.path, 0};
        } else {
          return {specific.from + " to " + specific.to, 0};
        }
      },
      request);
}

}  // namespace

Burst::Burst(const std::vector<guest::Request>& requests) {
  parts_.reserve(requests.size());
  for (const guest::Request& request : requests) {
    Target target = TargetOf(request);
    if (target.channel_number != 0) handle_channel_ = target.channel_number;
    parts_.push_back({request, MakeRequest(request), std::move(target.path)});
  }
}

std::vector<guest::Reply> Burst::TakeReplies() {
  std::vector<guest::Reply> replies;
  replies.reserve(parts_.size());
  for (Part& part : parts_) {
    guest::CheckPath(part.request, part.reply);
    replies.push_back(std::move(part.reply));
  }
  return replies;
}

std::vector<guest::Handle> Burst::Opened() const {
  std::vector<guest::Handle> opened;
  for (const Part& part : parts_) {
    const auto* handle = std::get_if<guest::Handle>(&part.reply.value);
    if (handle != nullptr) opened.push_back(*handle);
  }
  return opened;
}

bool Burst::changes_guest() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.whole.changes_guest; });
}

std::string Burst::Describe() const {
  if (parts_.empty()) return "";
  return std::string(parts_.front().whole.operation) + " " + parts_.front().path;
}

void Burst::Begin(SftpClient& client, std::uint64_t channel, TimePoint now) {
  channel_ = channel;
  first_request_ = client.next_request();
  ++answers_left_;  // keeps the burst from finishing before all requests are sent
  for (std::size_t i = 0; i < parts_.size(); ++i) SendPart(client, i, now);
  --answers_left_;
  FinishWhenComplete();
}

void Burst::SendPart(SftpClient& client, std::size_t index, TimePoint now) {
  Part& part = parts_[index];
  if (!part.whole.extension.empty() && !client.Offers(part.whole.extension)) {
    Refuse(part, FileErrorCode::kUnsupported, std::string(part.whole.extension));
  } else if (const auto* read = std::get_if<request::Read>(&part.request)) {
    const std::size_t length = std::min(read->length, guest::kMaximumTransfer);
    part.reply.value = std::string(length, '\0');
    part.piece = client.maximum_read();
    for (std::size_t done = 0; done < length; done += part.piece) {
      const std::size_t wanted = std::min(length - done, part.piece);
      Send(client, index, MakeRequest(request::Read{read->handle, read->offset + done, wanted}),
           now);
    }
  } else if (const auto* write = std::get_if<request::Write>(&part.request)) {
    for (std::size_t done = 0; done < write->bytes.size(); done += client.maximum_write()) {
      const std::string_view bytes = write->bytes.substr(done, client.maximum_write());
      Send(client, index, MakeRequest(request::Write{write->handle, write->offset + done, bytes}),
           now);
    }
  } else {
    Send(client, index, part.whole, now);
  }
}

void Burst::Send(SftpClient& client, std::size_t index, const SftpRequest& request, TimePoint now) {
  Part& part = parts_[index];
  const std::size_t piece = part.lengths.size();
  part.lengths.push_back(0);
  ++part.answers_left;
  ++answers_left_;
  client.Send(request, now,
              [self = shared_from_this(), client = &client, index, piece](SftpReply&& reply) {
                self->OnReply(*client, index, piece, std::move(reply));
              });
}

void Burst::OnReply(SftpClient& client, std::size_t index, std::size_t piece, SftpReply&& reply) {
  Part& part = parts_[index];
  --answers_left_;
  --part.answers_left;
  const auto* handle = std::get_if<SftpHandle>(&reply);
  if (handle != nullptr && (finished_ || lost_)) {
    // The caller no longer waits: close what it opened.
    const guest::Handle unwanted{handle->handle, channel_, part.path};
    client.Send(MakeRequest(request::Close{unwanted}), client.last_received(), [](SftpReply&&) {});
  }
  if (finished_) return;
  if (auto* lost = std::get_if<SftpLost>(&reply)) {
    if (!lost_) lost_ = lost->reason;
    may_have_changed_ |= part.whole.changes_guest && lost->may_have_run;
  } else {
    // Counts even if the part has failed: another piece of it may have been written.
    const auto* status = std::get_if<SftpStatus>(&reply);
    const bool refused = status != nullptr && status->code != SftpStatusCode::kOk;
    may_have_changed_ |= part.whole.changes_guest && !refused;
    Take(part, piece, std::move(reply));
  }
  FinishWhenComplete();
}

void Burst::Take(Part& part, std::size_t piece, SftpReply&& reply) {
  const auto* status = std::get_if<SftpStatus>(&reply);
  const bool is_read = part.whole.wanted == kData;
  const bool is_names = std::holds_alternative<request::ReadDirectory>(part.request);
  if (status != nullptr && status->code == SftpStatusCode::kEndOfFile && (is_read || is_names)) {
    if (is_names) part.reply.value = std::vector<guest::DirectoryEntry>();
  } else if (status != nullptr && status->code != SftpStatusCode::kOk) {
    Refuse(part, CodeOf(status->code), Detail(*status));
  } else if (reply.index() != part.whole.wanted) {
    Refuse(part, FileErrorCode::kFailure, kWrongAnswer);
  } else {
    TakeValue(part, piece, std::move(reply));
  }
  if (!is_read || part.answers_left > 0 || part.reply.failure) return;
  // The data ends at the first incomplete piece.
  auto& all = std::get<std::string>(part.reply.value);
  std::size_t end = 0;
  for (const std::size_t length : part.lengths) {
    end += length;
    if (length < part.piece) break;
  }
  all.resize(end);
}

void Burst::TakeValue(Part& part, std::size_t piece, SftpReply&& reply) {
  if (auto* attributes = std::get_if<guest::FileAttributes>(&reply)) {
    part.reply.value = *attributes;
  } else if (auto* opened = std::get_if<SftpHandle>(&reply)) {
    const auto* open = std::get_if<request::Open>(&part.request);
    part.reply.value = guest::Handle{std::move(opened->handle), channel_, part.path,
                                     open != nullptr && open->mode != guest::OpenMode::kRead};
  } else if (const auto* data = std::get_if<SftpData>(&reply)) {
    TakeData(part, piece, data->bytes);
  } else if (const auto* body = std::get_if<SftpExtendedReply>(&reply)) {
    try {
      part.reply.value = DecodeFileSystemStatus(body->body);
    } catch (const SftpProtocolError& error) {
      Refuse(part, FileErrorCode::kFailure, error.what());
    }
  } else if (auto* names = std::get_if<SftpNames>(&reply)) {
    if (std::holds_alternative<request::ReadDirectory>(part.request)) {
      part.reply.value = std::move(names->entries);
    } else if (names->entries.size() == 1) {
      part.reply.value = std::move(names->entries.front().name);
    } else {
      Refuse(part, FileErrorCode::kFailure, kWrongAnswer);
    }
  }
}

void Burst::TakeData(Part& part, std::size_t piece, std::string_view bytes) {
  auto& all = std::get<std::string>(part.reply.value);
  const std::size_t begin = piece * part.piece;
  // Without this check, empty data before the end of file would be requested again forever.
  if (bytes.empty() || bytes.size() > std::min(part.piece, all.size() - begin)) {
    Refuse(part, FileErrorCode::kFailure, "the guest's SFTP server sent a wrong amount of data");
    return;
  }
  bytes.copy(all.data() + begin, bytes.size());
  part.lengths[piece] = bytes.size();
}

void Burst::Refuse(Part& part, FileErrorCode code, const std::string& detail) {
  if (!part.reply.failure) {
    part.reply.failure.emplace(code, part.whole.operation, part.path, detail);
  }
}

void Burst::FinishWhenComplete() {
  if (answers_left_ > 0 || finished_) return;
  if (lost_) return FailLost(*lost_);
  finished_ = true;
  completion_.Finish();
}

void Burst::FailLost(const std::string& reason) {
  Fail(MakeFailure<support::ConnectionLost>(
      Describe() + ": " + reason +
          (may_have_changed_ ? "; it may have run" : "; nothing was changed in the guest"),
      may_have_changed_));
}

void Burst::Fail(std::exception_ptr failure) {
  if (finished_) return;
  finished_ = true;
  completion_.Finish(std::move(failure));
}

}  // namespace ssh
