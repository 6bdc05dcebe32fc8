#include "ssh/sftp/burst.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/errors.h"
#include "support/printable.h"

namespace ssh {
namespace {

namespace ask = guest::ask;
using guest::FileErrorCode;

template <typename... Callables>
struct Overloaded : Callables... {
  using Callables::operator()...;
};
// Clang deduces the arguments of an aggregate only since version 17.
template <typename... Callables>
Overloaded(Callables...) -> Overloaded<Callables...>;

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

/// OpenSSH's server says no more than the code's own name: nothing to repeat to the user.
std::string Detail(const SftpStatus& status) {
  for (const char* plain :
       {"Failure", "No such file", "Permission denied", "Success", "Operation unsupported"}) {
    if (status.message == plain) return {};
  }
  return support::Printable(std::string_view(status.message).substr(0, kMaximumServerWords));
}

/// In the order of guest::Request.
constexpr std::array<const char*, std::variant_size_v<guest::Request>> kOperations = {
    "stat",
    "stat",
    "resolve",
    "read the link",
    "ask about the file system of",
    "open",
    "list",
    "make the directory",
    "rename",
    "remove",
    "stat",
    "read",
    "write",
    "set the attributes of",
    "sync",
    "close",
    "list"};

const guest::Handle* HandleOf(const guest::Request& request) {
  return std::visit(
      [](const auto& asked) -> const guest::Handle* {
        if constexpr (requires { asked.handle; }) {
          return &asked.handle;
        } else {
          return nullptr;
        }
      },
      request);
}

std::string PathOf(const guest::Request& request) {
  return std::visit(
      [](const auto& asked) -> std::string {
        if constexpr (requires { asked.handle; }) {
          return asked.handle.path;
        } else if constexpr (requires { asked.path; }) {
          return asked.path;
        } else {
          return asked.from + " to " + asked.to;
        }
      },
      request);
}

/// Whether an answer of this kind is what the request asks for.
bool Wants(const guest::Request& request, const SftpReply& reply) {
  return std::visit(
      Overloaded{
          [&](const ask::Stat&) { return std::holds_alternative<guest::FileAttributes>(reply); },
          [&](const ask::LStat&) { return std::holds_alternative<guest::FileAttributes>(reply); },
          [&](const ask::StatOpen&) {
            return std::holds_alternative<guest::FileAttributes>(reply);
          },
          [&](const ask::RealPath&) { return std::holds_alternative<SftpNames>(reply); },
          [&](const ask::ReadLink&) { return std::holds_alternative<SftpNames>(reply); },
          [&](const ask::ReadDirectory&) { return std::holds_alternative<SftpNames>(reply); },
          [&](const ask::StatFileSystem&) {
            return std::holds_alternative<SftpExtendedReply>(reply);
          },
          [&](const ask::Open&) { return std::holds_alternative<SftpHandle>(reply); },
          [&](const ask::OpenDirectory&) { return std::holds_alternative<SftpHandle>(reply); },
          [&](const ask::Read&) { return std::holds_alternative<SftpData>(reply); },
          [&](const auto&) { return std::holds_alternative<SftpStatus>(reply); },
      },
      request);
}

}  // namespace

/// Sends what one request takes.
class Burst::Sender {
 public:
  Sender(Burst& burst, SftpClient& client, std::size_t index, TimePoint now)
      : burst_(burst), client_(client), index_(index), now_(now) {}

  void operator()(const ask::Stat& asked) { Send(PathRequest(SftpType::kStat, asked.path)); }
  void operator()(const ask::LStat& asked) { Send(PathRequest(SftpType::kLStat, asked.path)); }
  void operator()(const ask::RealPath& asked) {
    Send(PathRequest(SftpType::kRealPath, asked.path));
  }
  void operator()(const ask::ReadLink& asked) {
    Send(PathRequest(SftpType::kReadLink, asked.path));
  }
  void operator()(const ask::StatFileSystem& asked) {
    Send(ExtendedRequest(kFileSystemExtension, {asked.path}), kFileSystemExtension);
  }
  void operator()(const ask::Open& asked) {
    Send(OpenRequest(asked.path, asked.mode, asked.permissions));
  }
  void operator()(const ask::OpenDirectory& asked) {
    Send(PathRequest(SftpType::kOpenDirectory, asked.path));
  }
  void operator()(const ask::MakeDirectory& asked) {
    Send(MakeDirectoryRequest(asked.path, asked.permissions));
  }
  void operator()(const ask::Rename& asked) {
    Send(ExtendedRequest(kPosixRenameExtension, {asked.from, asked.to}), kPosixRenameExtension);
  }
  void operator()(const ask::Unlink& asked) { Send(PathRequest(SftpType::kRemove, asked.path)); }
  void operator()(const ask::StatOpen& asked) {
    Send(HandleRequest(SftpType::kFStat, asked.handle.value));
  }
  void operator()(const ask::Read& asked) {
    Part& part = burst_.parts_[index_];
    const std::size_t length = std::min(asked.length, guest::kMostAtOnce);
    part.reply.value = std::string(length, '\0');
    part.piece = client_.maximum_read();
    for (std::size_t done = 0; done < length; done += part.piece) {
      const auto wanted = static_cast<std::uint32_t>(std::min(length - done, part.piece));
      Send(ReadRequest(asked.handle.value, asked.offset + done, wanted));
    }
  }
  void operator()(const ask::Write& asked) {
    for (std::size_t done = 0; done < asked.bytes.size(); done += client_.maximum_write()) {
      Send(WriteRequest(asked.handle.value, asked.offset + done,
                        asked.bytes.substr(done, client_.maximum_write())));
    }
  }
  void operator()(const ask::SetAttributes& asked) {
    Send(SetAttributesRequest(asked.handle.value, asked.change));
  }
  void operator()(const ask::Sync& asked) {
    Send(ExtendedRequest(kSyncExtension, {asked.handle.value}), kSyncExtension);
  }
  void operator()(const ask::Close& asked) {
    SftpRequest request = HandleRequest(SftpType::kClose, asked.handle.value);
    request.changes_guest = asked.handle.writes;
    Send(request);
  }
  void operator()(const ask::ReadDirectory& asked) {
    Send(HandleRequest(SftpType::kReadDirectory, asked.handle.value));
  }

 private:
  /// `extension`: what the server must offer for it; empty for the requests of the base protocol.
  void Send(const SftpRequest& request, std::string_view extension = {}) {
    Part& part = burst_.parts_[index_];
    part.changes_guest = request.changes_guest;
    if (!extension.empty() && !client_.Offers(extension)) {
      burst_.Refuse(part, FileErrorCode::kUnsupported, std::string(extension));
      return;
    }
    const std::size_t piece = part.lengths.size();
    part.lengths.push_back(0);
    ++part.answers_left;
    ++burst_.answers_left_;
    client_.Send(
        request, now_,
        [self = burst_.shared_from_this(), client = &client_, index = index_,
         piece](SftpReply&& reply) { self->OnReply(*client, index, piece, std::move(reply)); });
  }

  Burst& burst_;
  SftpClient& client_;
  std::size_t index_;
  TimePoint now_;
};

Burst::Burst(std::vector<guest::Request> requests) {
  parts_.reserve(requests.size());
  for (guest::Request& request : requests) {
    if (const guest::Handle* handle = HandleOf(request)) handle_channel_ = handle->channel;
    Part part;
    part.operation = kOperations.at(request.index());
    part.path = PathOf(request);
    part.request = std::move(request);
    parts_.push_back(std::move(part));
  }
}

std::vector<guest::Reply> Burst::TakeReplies() {
  std::vector<guest::Reply> replies;
  replies.reserve(parts_.size());
  for (Part& part : parts_) replies.push_back(std::move(part.reply));
  return replies;
}

std::vector<guest::Handle> Burst::ToClose() const {
  std::vector<guest::Handle> handles;
  for (const Part& part : parts_) {
    if (const auto* close = std::get_if<ask::Close>(&part.request))
      handles.push_back(close->handle);
  }
  return handles;
}

std::vector<guest::Handle> Burst::Opened() const {
  std::vector<guest::Handle> opened;
  for (const Part& part : parts_) {
    if (const auto* handle = std::get_if<guest::Handle>(&part.reply.value)) {
      opened.push_back(*handle);
    }
  }
  return opened;
}

std::string Burst::Describe() const {
  return parts_.empty() ? "" : parts_.front().operation + " " + parts_.front().path;
}

void Burst::Begin(SftpClient& client, std::uint64_t channel, TimePoint now) {
  channel_ = channel;
  ++answers_left_;  // none of them ends it before the last one is sent
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    std::visit(Sender(*this, client, i, now), parts_[i].request);
  }
  --answers_left_;
  FinishWhenComplete();
}

void Burst::OnReply(SftpClient& client, std::size_t index, std::size_t piece, SftpReply&& reply) {
  Part& part = parts_[index];
  --answers_left_;
  --part.answers_left;
  const auto* handle = std::get_if<SftpHandle>(&reply);
  if (handle != nullptr && (finished_ || lost_)) {
    // Nobody waits for the file any more: it must not stay open.
    client.Send(HandleRequest(SftpType::kClose, handle->handle), client.last_received(),
                [](SftpReply&&) {});
  }
  if (finished_) return;
  if (auto* lost = std::get_if<SftpLost>(&reply)) {
    if (!lost_) lost_ = lost->reason;
    may_have_changed_ |= part.changes_guest && lost->may_have_run;
  } else {
    // Not whether the part has failed: another piece of it may have been written.
    const auto* status = std::get_if<SftpStatus>(&reply);
    const bool refused = status != nullptr && status->code != SftpStatusCode::kOk;
    may_have_changed_ |= part.changes_guest && !refused;
    Take(client, part, piece, std::move(reply));
  }
  FinishWhenComplete();
}

void Burst::Take(SftpClient& client, Part& part, std::size_t piece, SftpReply&& reply) {
  const auto* status = std::get_if<SftpStatus>(&reply);
  const bool is_read = std::holds_alternative<ask::Read>(part.request);
  const bool is_names = std::holds_alternative<ask::ReadDirectory>(part.request);
  if (status != nullptr && status->code == SftpStatusCode::kEndOfFile && (is_read || is_names)) {
    if (is_names) part.reply.value = std::vector<guest::DirectoryEntry>();
  } else if (status != nullptr && status->code != SftpStatusCode::kOk) {
    Refuse(part, CodeOf(status->code), Detail(*status));
  } else if (!Wants(part.request, reply)) {
    Refuse(part, FileErrorCode::kFailure,
           "the guest's SFTP server gave an answer of the wrong kind");
  } else if (auto* attributes = std::get_if<guest::FileAttributes>(&reply)) {
    part.reply.value = *attributes;
  } else if (auto* opened = std::get_if<SftpHandle>(&reply)) {
    const auto* open = std::get_if<ask::Open>(&part.request);
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
    if (is_names) {
      part.reply.value = std::move(names->entries);
    } else if (names->entries.size() == 1) {
      part.reply.value = std::move(names->entries.front().name);
    } else {
      Refuse(part, FileErrorCode::kFailure,
             "the guest's SFTP server gave an answer of the wrong kind");
    }
  }
  if (is_read && part.answers_left == 0 && !part.reply.failure) EndRead(client, part);
}

void Burst::TakeData(Part& part, std::size_t piece, std::string_view bytes) {
  auto& all = std::get<std::string>(part.reply.value);
  const std::size_t begin = piece * part.piece;
  // An empty answer that is not the end would be asked for again for ever.
  if (bytes.empty() || bytes.size() > std::min(part.piece, all.size() - begin)) {
    Refuse(part, FileErrorCode::kFailure, "the guest's SFTP server sent a wrong amount of data");
    return;
  }
  bytes.copy(all.data() + begin, bytes.size());
  part.lengths[piece] = bytes.size();
}

void Burst::EndRead(SftpClient& client, Part& part) {
  auto& all = std::get<std::string>(part.reply.value);
  std::size_t end = 0;
  for (std::size_t piece = 0; piece < part.lengths.size(); ++piece) {
    const std::size_t length = part.lengths[piece];
    end = piece * part.piece + length;
    if (end == all.size() || length == part.piece) continue;
    // Where the next one brought more, the file did not end here: the server never gives more at a
    // time.
    const bool more_came = piece + 1 < part.lengths.size() && part.lengths[piece + 1] > 0;
    if (more_came && length > 0) {
      client.LearnMaximumRead(std::max(static_cast<std::uint32_t>(length), kShortestRead));
    }
    break;
  }
  all.resize(end);
}

void Burst::Refuse(Part& part, FileErrorCode code, const std::string& detail) {
  if (!part.reply.failure) part.reply.failure.emplace(code, part.operation, part.path, detail);
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
