#include "ssh/sftp/burst.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"
#include "support/printable.h"

namespace ssh {
namespace {

namespace request = guest::request;
using Type = SftpType;
using guest::FileErrorCode;

template <typename... Callables>
struct Overloaded : Callables... {
  using Callables::operator()...;
};
// Clang deduces the arguments of an aggregate only since version 17.
template <typename... Callables>
Overloaded(Callables...) -> Overloaded<Callables...>;

/// Indexes in SftpReply.
enum : std::size_t { kStatus, kHandle, kData, kNames, kAttributes, kExtendedReply };

constexpr const char* kWrongAnswer = "the guest's SFTP server sent the wrong kind of answer";

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

/// Empty for OpenSSH's texts, which only repeat the code.
std::string Detail(const SftpStatus& status) {
  for (const char* plain :
       {"Failure", "No such file", "Permission denied", "Success", "Operation unsupported"}) {
    if (status.message == plain) return {};
  }
  return support::Printable(std::string_view(status.message).substr(0, kMaximumServerText));
}

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

}  // namespace

Burst::Plan Burst::PlanFor(const guest::Request& request) {
  const auto simple = [](const char* operation, std::size_t wanted, Type type,
                         const std::string& path_or_handle) {
    return Plan{operation, wanted, PathRequest(type, path_or_handle)};
  };
  const auto extended = [](const char* operation, std::size_t wanted, std::string_view extension,
                           const std::vector<std::string_view>& arguments) {
    return Plan{operation, wanted, ExtendedRequest(extension, arguments), extension};
  };
  return std::visit(
      Overloaded{
          [&](const request::Stat& a) { return simple("stat", kAttributes, Type::kStat, a.path); },
          [&](const request::LStat& a) {
            return simple("stat", kAttributes, Type::kLStat, a.path);
          },
          [&](const request::RealPath& a) {
            return simple("resolve", kNames, Type::kRealPath, a.path);
          },
          [&](const request::ReadLink& a) {
            return simple("read the link", kNames, Type::kReadLink, a.path);
          },
          [&](const request::StatFileSystem& a) {
            return extended("stat the file system of", kExtendedReply, kFileSystemExtension,
                            {a.path});
          },
          [&](const request::Open& a) {
            return Plan{"open", kHandle, OpenRequest(a.path, a.mode, a.permissions)};
          },
          [&](const request::OpenDirectory& a) {
            return simple("list", kHandle, Type::kOpenDirectory, a.path);
          },
          [&](const request::MakeDirectory& a) {
            return Plan{"make the directory", kStatus, MakeDirectoryRequest(a.path, a.permissions)};
          },
          [&](const request::Rename& a) {
            return extended("rename", kStatus, kPosixRenameExtension, {a.from, a.to});
          },
          [&](const request::Unlink& a) {
            return simple("remove", kStatus, Type::kRemove, a.path);
          },
          [&](const request::StatOpen& a) {
            return simple("stat", kAttributes, Type::kFStat, a.handle.value);
          },
          [&](const request::Read&) {
            return Plan{"read", kData, SftpRequest()};
          },
          [&](const request::Write&) {
            return Plan{"write", kStatus, SftpRequest()};
          },
          [&](const request::SetAttributes& a) {
            return Plan{"set the attributes of", kStatus,
                        SetAttributesRequest(a.handle.value, a.change)};
          },
          [&](const request::Sync& a) {
            return extended("sync", kStatus, kSyncExtension, {a.handle.value});
          },
          [&](const request::Close& a) {
            Plan plan = simple("close", kStatus, Type::kClose, a.handle.value);
            plan.request.changes_guest = a.handle.writes;
            return plan;
          },
          [&](const request::ReadDirectory& a) {
            return simple("list", kNames, Type::kReadDirectory, a.handle.value);
          }},
      request);
}

Burst::Burst(std::vector<guest::Request> requests) {
  parts_.reserve(requests.size());
  for (guest::Request& request : requests) {
    if (const guest::Handle* handle = HandleOf(request)) handle_channel_ = handle->channel;
    Plan plan = PlanFor(request);
    std::string path = PathOf(request);
    parts_.push_back({std::move(request), std::move(plan), std::move(path)});
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
    if (const auto* close = std::get_if<request::Close>(&part.request))
      handles.push_back(close->handle);
  }
  return handles;
}

std::vector<guest::Handle> Burst::Opened() const {
  std::vector<guest::Handle> opened;
  for (const Part& part : parts_) {
    const auto* handle = std::get_if<guest::Handle>(&part.reply.value);
    if (handle != nullptr) opened.push_back(*handle);
  }
  return opened;
}

std::string Burst::Describe() const {
  if (parts_.empty()) return "";
  return std::string(parts_.front().plan.operation) + " " + parts_.front().path;
}

void Burst::Begin(SftpClient& client, std::uint64_t channel, TimePoint now) {
  channel_ = channel;
  ++answers_left_;  // so that it does not finish before all are sent
  for (std::size_t i = 0; i < parts_.size(); ++i) SendPart(client, i, now);
  --answers_left_;
  FinishWhenComplete();
}

void Burst::SendPart(SftpClient& client, std::size_t index, TimePoint now) {
  Part& part = parts_[index];
  if (!part.plan.extension.empty() && !client.Offers(part.plan.extension)) {
    Refuse(part, FileErrorCode::kUnsupported, std::string(part.plan.extension));
  } else if (const auto* read = std::get_if<request::Read>(&part.request)) {
    const std::size_t length = std::min(read->length, guest::kMaximumTransfer);
    part.reply.value = std::string(length, '\0');
    part.piece = client.maximum_read();
    for (std::size_t done = 0; done < length; done += part.piece) {
      const auto wanted = static_cast<std::uint32_t>(std::min(length - done, part.piece));
      Send(client, index, ReadRequest(read->handle.value, read->offset + done, wanted), now);
    }
  } else if (const auto* write = std::get_if<request::Write>(&part.request)) {
    for (std::size_t done = 0; done < write->bytes.size(); done += client.maximum_write()) {
      const std::string_view bytes = write->bytes.substr(done, client.maximum_write());
      Send(client, index, WriteRequest(write->handle.value, write->offset + done, bytes), now);
    }
  } else {
    Send(client, index, part.plan.request, now);
  }
}

void Burst::Send(SftpClient& client, std::size_t index, const SftpRequest& request, TimePoint now) {
  Part& part = parts_[index];
  part.changes_guest = request.changes_guest;
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
    // The caller has gone: close what it opened.
    client.Send(HandleRequest(SftpType::kClose, handle->handle), client.last_received(),
                [](SftpReply&&) {});
  }
  if (finished_) return;
  if (auto* lost = std::get_if<SftpLost>(&reply)) {
    if (!lost_) lost_ = lost->reason;
    may_have_changed_ |= part.changes_guest && lost->may_have_run;
  } else {
    // Even if the part has failed, another piece of it may have been written.
    const auto* status = std::get_if<SftpStatus>(&reply);
    const bool refused = status != nullptr && status->code != SftpStatusCode::kOk;
    may_have_changed_ |= part.changes_guest && !refused;
    Take(part, piece, std::move(reply));
  }
  FinishWhenComplete();
}

void Burst::Take(Part& part, std::size_t piece, SftpReply&& reply) {
  const auto* status = std::get_if<SftpStatus>(&reply);
  const bool is_read = part.plan.wanted == kData;
  const bool is_names = std::holds_alternative<request::ReadDirectory>(part.request);
  if (status != nullptr && status->code == SftpStatusCode::kEndOfFile && (is_read || is_names)) {
    if (is_names) part.reply.value = std::vector<guest::DirectoryEntry>();
  } else if (status != nullptr && status->code != SftpStatusCode::kOk) {
    Refuse(part, CodeOf(status->code), Detail(*status));
  } else if (reply.index() != part.plan.wanted) {
    Refuse(part, FileErrorCode::kFailure, kWrongAnswer);
  } else if (auto* attributes = std::get_if<guest::FileAttributes>(&reply)) {
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
    if (is_names) {
      part.reply.value = std::move(names->entries);
    } else if (names->entries.size() == 1) {
      part.reply.value = std::move(names->entries.front().name);
    } else {
      Refuse(part, FileErrorCode::kFailure, kWrongAnswer);
    }
  }
  if (!is_read || part.answers_left > 0 || part.reply.failure) return;
  // The data ends with the first piece that is not full.
  auto& all = std::get<std::string>(part.reply.value);
  std::size_t end = 0;
  for (const std::size_t length : part.lengths) {
    end += length;
    if (length < part.piece) break;
  }
  all.resize(end);
}

void Burst::TakeData(Part& part, std::size_t piece, std::string_view bytes) {
  auto& all = std::get<std::string>(part.reply.value);
  const std::size_t begin = piece * part.piece;
  // An empty answer that is not the end would be requested again for ever.
  if (bytes.empty() || bytes.size() > std::min(part.piece, all.size() - begin)) {
    Refuse(part, FileErrorCode::kFailure, "the guest's SFTP server sent a wrong amount of data");
    return;
  }
  bytes.copy(all.data() + begin, bytes.size());
  part.lengths[piece] = bytes.size();
}

void Burst::Refuse(Part& part, FileErrorCode code, const std::string& detail) {
  if (!part.reply.failure) {
    part.reply.failure.emplace(code, part.plan.operation, part.path, detail);
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
