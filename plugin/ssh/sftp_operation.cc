#include "ssh/sftp_operation.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"
#include "support/printable.h"

namespace ssh {
namespace {

guest::FileErrorCode CodeOf(SftpStatusCode code) {
  switch (code) {
    case SftpStatusCode::kNoSuchFile:
      return guest::FileErrorCode::kNotFound;
    case SftpStatusCode::kPermissionDenied:
      return guest::FileErrorCode::kPermissionDenied;
    case SftpStatusCode::kUnsupported:
      return guest::FileErrorCode::kUnsupported;
    default:
      return guest::FileErrorCode::kFailure;
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

}  // namespace

std::exception_ptr FailureOf(const SftpSubject& subject, const SftpReply& reply) {
  if (const auto* lost = std::get_if<SftpLost>(&reply)) {
    return MakeFailure<support::ConnectionLost>(
        subject.operation + " " + subject.path + ": " + lost->reason +
            (lost->may_have_run ? "; it may have run" : "; nothing was changed in the guest"),
        lost->may_have_run);
  }
  if (const auto* status = std::get_if<SftpStatus>(&reply)) {
    return MakeFailure<guest::FileError>(CodeOf(status->code), subject.operation, subject.path,
                                         Detail(*status));
  }
  return MakeFailure<guest::FileError>(guest::FileErrorCode::kFailure, subject.operation,
                                       subject.path,
                                       "the guest's SFTP server gave an answer of the wrong kind");
}

void ThrowWrongKind(const SftpSubject& subject) {
  // Any answer that is neither a status nor a loss stands for the wrong one.
  std::rethrow_exception(FailureOf(subject, SftpHandle{}));
}

std::string OnlyName(SftpReply&& reply, const SftpSubject& subject) {
  auto names = Expect<SftpNames>(std::move(reply), subject);
  if (names.entries.size() != 1) ThrowWrongKind(subject);
  return std::move(names.entries.front().name);
}

void SftpOperation::MakePartOf(const std::shared_ptr<SftpOperation>& whole, Then then) {
  whole_ = whole;
  then_ = std::move(then);
  is_part_ = true;
}

bool SftpOperation::finished() const {
  if (finished_ || !is_part_) return finished_;
  const std::shared_ptr<SftpOperation> whole = whole_.lock();
  return !whole || whole->finished();
}

void SftpOperation::Finish(std::exception_ptr failure) {
  if (finished()) return;
  finished_ = true;
  if (!is_part_) {
    completion_.Finish(std::move(failure));
    return;
  }
  const std::shared_ptr<SftpOperation> whole = whole_.lock();  // not before `then` has returned
  std::exchange(then_, nullptr)(std::move(failure));
}

void SftpOperation::FinishWithFailure(SftpReply reply) {
  if (auto* lost = std::get_if<SftpLost>(&reply); lost != nullptr && !changes_guest()) {
    lost->may_have_run = false;
  }
  Finish(FailureOf(subject_, reply));
}

AskOperation::AskOperation(SftpSubject subject, SftpRequest request, std::string_view extension,
                           std::uint64_t handle_channel)
    : SftpOperation(std::move(subject), handle_channel),
      request_(std::move(request)),
      extension_(extension) {}

void AskOperation::Begin(SftpClient& client, TimePoint now) {
  if (!extension_.empty() && !client.Offers(extension_)) {
    FinishWithFailure(SftpStatus{SftpStatusCode::kUnsupported, std::string(extension_)});
    return;
  }
  client.Send(request_, now, [self = shared_from_this(), this, &client](SftpReply&& answer) {
    if (const auto* handle = std::get_if<SftpHandle>(&answer); handle != nullptr && finished()) {
      // Nobody waits for the file any more: it must not stay open.
      client.Send(HandleRequest(SftpType::kClose, handle->handle), client.last_received(),
                  [](SftpReply&&) {});
      return;
    }
    if (finished()) return;
    const auto* status = std::get_if<SftpStatus>(&answer);
    const bool good = status != nullptr ? status->code == SftpStatusCode::kOk
                                        : !std::holds_alternative<SftpLost>(answer) &&
                                              !std::holds_alternative<SftpData>(answer);
    if (!good) {
      FinishWithFailure(answer);
      return;
    }
    reply = std::move(answer);
    Finish();
  });
}

WriteOperation::WriteOperation(SftpSubject subject, const RemoteHandle& handle,
                               std::uint64_t offset, std::string_view bytes)
    : SftpOperation(std::move(subject), handle.channel),
      handle_(handle.handle),
      offset_(offset),
      left_(bytes) {}

void WriteOperation::Continue(SftpClient& client, TimePoint now) {
  while (!finished() && !left_.empty() && on_their_way_ < kLargestWindow &&
         client.output().size() < kOutputAhead) {
    const std::string_view piece = left_.substr(0, client.maximum_write());
    left_.remove_prefix(piece.size());
    ++on_their_way_;
    client.Send(
        WriteRequest(handle_, offset_, piece), now,
        [self = shared_from_this(), this, &client](SftpReply&& reply) { OnReply(client, reply); });
    offset_ += piece.size();
  }
  if (left_.empty() && on_their_way_ == 0) Finish();
}

void WriteOperation::OnReply(SftpClient& client, const SftpReply& reply) {
  --on_their_way_;
  const auto* status = std::get_if<SftpStatus>(&reply);
  if (status == nullptr || status->code != SftpStatusCode::kOk) {
    SftpReply failure = reply;
    if (auto* lost = std::get_if<SftpLost>(&failure)) lost->may_have_run |= some_written_;
    FinishWithFailure(std::move(failure));
    return;
  }
  some_written_ = true;
  if (!finished()) Continue(client, client.last_received());
}

ListOperation::ListOperation(std::string path, std::function<bool()> wanted, Begins begins)
    : SftpOperation({"list", std::move(path)}, 0), wanted_(std::move(wanted)), begins_(begins) {}

void ListOperation::Begin(SftpClient& client, TimePoint now) {
  if (begins_ == Begins::kWithOpening) guess_ = client.LikelyHandle();
  Open(client, now);
}

void ListOperation::Open(SftpClient& client, TimePoint now) {
  client.Send(PathRequest(SftpType::kOpenDirectory, subject().path), now,
              [self = shared_from_this(), this, &client](SftpReply&& reply) {
                OnOpened(client, std::move(reply));
              });
  if (!guess_.empty()) SendMore(client, now);
}

void ListOperation::OnOpened(SftpClient& client, SftpReply&& reply) {
  auto* handle = std::get_if<SftpHandle>(&reply);
  if (handle == nullptr) {
    FinishWithFailure(reply);
    return;
  }
  handle_ = std::move(handle->handle);
  if (finished() || (wanted_ && !wanted_())) {
    Close(client, client.last_received());
    Finish();
  } else if (guess_.empty()) {
    SendMore(client, client.last_received());
  } else if (guess_ != handle_ || answered_early_) {
    ForgetGuess(client, client.last_received());
  }
}

void ListOperation::ForgetGuess(SftpClient& client, TimePoint now) {
  client.GuessNoHandles();
  guess_.clear();
  ++attempt_;
  on_their_way_ = 0;
  if (!answered_early_) {
    SendMore(client, now);
    return;
  }
  // A server that works in another order may have given names of it that were not believed.
  Close(client, now);
  Open(client, now);
}

void ListOperation::SendMore(SftpClient& client, TimePoint now) {
  while (!finished() && on_their_way_ < window_) {
    ++on_their_way_;  // before Send, which may answer at once
    client.Send(HandleRequest(SftpType::kReadDirectory, handle_.value_or(guess_)), now,
                [self = shared_from_this(), this, &client, attempt = attempt_](SftpReply&& reply) {
                  if (attempt == attempt_) OnReply(client, std::move(reply));
                });
  }
}

void ListOperation::OnReply(SftpClient& client, SftpReply&& reply) {
  --on_their_way_;
  if (!handle_ && !finished() && !std::holds_alternative<SftpLost>(reply)) {
    answered_early_ = true;
    return;
  }
  if (!finished()) {
    auto* names = std::get_if<SftpNames>(&reply);
    const auto* status = std::get_if<SftpStatus>(&reply);
    // No names at all are taken for the end, as OpenSSH's client does.
    if (names != nullptr && !names->entries.empty()) {
      AdjustWindow(names->entries.size());
      Take(std::move(names->entries));
    } else if (names != nullptr ||
               (status != nullptr && status->code == SftpStatusCode::kEndOfFile)) {
      OnEnd(client);
    } else {
      FinishWithFailure(reply);
    }
  }
  if (!finished()) {
    SendMore(client, client.last_received());
  } else if (!std::holds_alternative<SftpLost>(reply)) {
    Close(client, client.last_received());
  }
}

void ListOperation::OnEnd(SftpClient& client) {
  if (most_names_ > 0) {
    Finish();
    return;
  }
  // OpenSSH's server leaves out what it is not permitted to look at: everything, "." too, in a
  // directory that may be read but not entered. That is not empty.
  window_ = 0;  // nothing more is to be read
  if (std::exchange(asks_whether_denied_, true)) return;
  client.Send(PathRequest(SftpType::kLStat, subject().path + "/."), client.last_received(),
              [self = shared_from_this(), this, &client](SftpReply&& reply) {
                const bool is_lost = std::holds_alternative<SftpLost>(reply);
                const auto* status = std::get_if<SftpStatus>(&reply);
                const bool is_denied =
                    status != nullptr && status->code == SftpStatusCode::kPermissionDenied;
                if (is_lost || is_denied) {
                  FinishWithFailure(std::move(reply));
                } else {
                  Finish();
                }
                if (!is_lost) Close(client, client.last_received());
              });
}

void ListOperation::AdjustWindow(std::size_t names) {
  if (most_names_ == 0) {
    window_ = kFirstWindow - 1;  // what is on its way may well be the end
  } else if (names >= most_names_) {
    window_ = std::min(window_ + 1, kLargestWindow);
  } else {
    window_ = 1;  // a server fills its answers, but for the last
  }
  most_names_ = std::max(most_names_, names);
}

void ListOperation::Take(std::vector<guest::DirectoryEntry> names) {
  for (const guest::DirectoryEntry& entry : names) name_bytes_ += entry.name.size();
  if (entries.size() + names.size() > kMaximumEntries || name_bytes_ > kMaximumNameBytes) {
    Finish(MakeFailure<support::CallError>(
        "list " + subject().path + ": more than " + std::to_string(kMaximumEntries) +
        " entries, or " + std::to_string(kMaximumNameBytes >> 20U) +
        " MiB of names; list it in parts with a command in the guest, such as find"));
    return;
  }
  for (guest::DirectoryEntry& entry : names) {
    const bool is_told_of = entry.attributes.type == guest::FileType::kDirectory;
    if (entry.name == "." && is_told_of) directory = entry.attributes;
    if (entry.name == "." || entry.name == "..") continue;
    if (entry.name.empty() || entry.name.find('/') != std::string::npos ||
        entry.name.find('\0') != std::string::npos) {
      Finish(MakeFailure<guest::FileError>(
          guest::FileErrorCode::kFailure, "list", subject().path,
          "the guest's SFTP server sent a file name that cannot exist"));
      return;
    }
    entries.push_back(std::move(entry));
  }
}

void ListOperation::Close(SftpClient& client, TimePoint now) {
  if (!handle_) return;
  // The server works in order: what is still on its way is answered before.
  client.Send(HandleRequest(SftpType::kClose, *std::exchange(handle_, {})), now,
              [](SftpReply&&) {});
}

}  // namespace ssh
