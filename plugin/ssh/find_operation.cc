#include "ssh/find_operation.h"

#include <algorithm>
#include <utility>

namespace ssh {
namespace {

bool IsFileError(const std::exception_ptr& failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const guest::FileError&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

std::shared_ptr<AskOperation> AskForAttributes(const std::string& path) {
  return std::make_shared<AskOperation>(SftpSubject{"stat", path},
                                        PathRequest(SftpType::kLStat, path), "", 0);
}

/// What came of AskForAttributes; empty where nothing is there. Throws other failures.
std::optional<guest::FileAttributes> AttributesFrom(AskOperation& asked,
                                                    std::exception_ptr failure) {
  try {
    // Taken away: what is caught here ends here.
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    return Expect<guest::FileAttributes>(std::move(asked.reply), asked.subject());
  } catch (const guest::FileError& error) {
    if (error.code() != guest::FileErrorCode::kNotFound) throw;
    return std::nullopt;
  }
}

std::shared_ptr<AskOperation> AskForPath(const SftpSubject& subject) {
  return std::make_shared<AskOperation>(subject, PathRequest(SftpType::kRealPath, subject.path), "",
                                        0);
}

}  // namespace

FindOperation::FindOperation(const std::string& path)
    : CompoundOperation({"resolve", path}, 0), real_path_(AskForPath(subject())) {}

void FindOperation::Begin(SftpClient& client, TimePoint now) {
  BeginStep(real_path_, client, now, [this, &client] {
    found.path = OnlyName(std::move(real_path_->reply), subject());
    path_is_known_ = true;
    // What is asked already is then about a link.
    if (found.path != subject().path) AskAttributes(client, client.last_received(), found.path);
    FinishWhenComplete();
  });
  AskAttributes(client, now, subject().path);
}

void FindOperation::AskAttributes(SftpClient& client, TimePoint now, const std::string& path) {
  attributes_are_known_ = false;
  attributes_ = AskForAttributes(path);
  const auto on_end = [this, asked = attributes_.get()](std::exception_ptr failure) {
    if (asked != attributes_.get()) return;
    attributes_failure_ = std::move(failure);
    attributes_are_known_ = true;
    FinishWhenComplete();
  };
  BeginPart(attributes_, client, now, on_end);
}

void FindOperation::FinishWhenComplete() {
  if (!path_is_known_ || !attributes_are_known_) return;
  Attempt([&] {
    found.attributes = AttributesFrom(*attributes_, std::exchange(attributes_failure_, nullptr));
    Finish();
  });
}

FindAndListOperation::FindAndListOperation(const std::string& path)
    : CompoundOperation({"list", path}, 0),
      real_path_(AskForPath({"resolve", path})),
      // Asked last, and so answered when it is known where the path leads; a server that answers in
      // another order is asked by the caller again.
      list_(std::make_shared<ListOperation>(
          path, [this] { return is_read_ = found.file.path == subject().path; },
          ListOperation::Begins::kWithOpening)) {}

void FindAndListOperation::Begin(SftpClient& client, TimePoint now) {
  BeginStep(real_path_, client, now, [this, &client] {
    found.file.path = OnlyName(std::move(real_path_->reply), real_path_->subject());
    OnPartEnd(client);
  });
  BeginPart(list_, client, now, [this, &client](std::exception_ptr failure) {
    if (failure && !IsFileError(failure)) {
      Finish(std::move(failure));
      return;
    }
    // Whoever asks for the entries hears why there are none.
    if (!failure && is_read_) found.entries = std::move(list_->entries);
    OnPartEnd(client);
  });
}

void FindAndListOperation::OnPartEnd(SftpClient& client) {
  if (--parts_left_ > 0) return;
  if (found.entries && list_->directory) {
    found.file.attributes = list_->directory;
    Finish();
    return;
  }
  attributes_ = AskForAttributes(found.file.path);
  BeginPart(attributes_, client, client.last_received(), [this](std::exception_ptr failure) {
    Attempt([&] {
      found.file.attributes = AttributesFrom(*attributes_, std::move(failure));
      Finish();
    });
  });
}

FindAndReadOperation::FindAndReadOperation(const std::string& path, std::uint64_t most_bytes)
    : CompoundOperation({"read", path}, 0),
      most_bytes_(most_bytes),
      find_(std::make_shared<FindOperation>(path)),
      open_(std::make_shared<AskOperation>(SftpSubject{"open", path},
                                           OpenRequest(path, guest::OpenMode::kRead, 0), "", 0)) {}

void FindAndReadOperation::Begin(SftpClient& client, TimePoint now) {
  BeginStep(find_, client, now, [this, &client] { OnFound(client); });
}

void FindAndReadOperation::OnFound(SftpClient& client) {
  found.file = std::move(find_->found);
  if (!guest::IsItself(found.file, subject().path, guest::FileType::kRegular) ||
      found.file.attributes->size >= std::min<std::uint64_t>(most_bytes_, client.maximum_read())) {
    Finish();
    return;
  }
  BeginPart(open_, client, client.last_received(), [this, &client](std::exception_ptr failure) {
    if (failure) {
      FinishWithout(std::move(failure));
      return;
    }
    Attempt([&] {
      const auto opened = Expect<SftpHandle>(std::move(open_->reply), open_->subject());
      ReadAndClose(client, {opened.handle, channel()});
    });
  });
}

void FindAndReadOperation::ReadAndClose(SftpClient& client, const RemoteHandle& handle) {
  const TimePoint now = client.last_received();
  stat_ = std::make_shared<AskOperation>(SftpSubject{"stat", subject().path},
                                         HandleRequest(SftpType::kFStat, handle.handle), "",
                                         handle.channel);
  const std::size_t wanted = static_cast<std::size_t>(found.file.attributes->size) + 1;
  // One answer, which is not asked to be completed: the file is closed by then.
  read_ = std::make_shared<ReadOperation>(subject(), handle, 0, wanted,
                                          ReadOperation::ShortAnswer::kIsTheEnd);
  const auto on_end = [this, wanted](std::exception_ptr failure) {
    if (failure) {
      FinishWithout(std::move(failure));
    } else if (stat_->finished() && read_->finished()) {
      Attempt([&] { TakeContent(wanted); });
    }
  };
  BeginPart(stat_, client, now, on_end);
  BeginPart(read_, client, now, on_end);
  client.Send(HandleRequest(SftpType::kClose, handle.handle), now, [](SftpReply&&) {});
}

void FindAndReadOperation::TakeContent(std::size_t wanted) {
  const auto attributes = Expect<guest::FileAttributes>(std::move(stat_->reply), stat_->subject());
  // Otherwise the server gives less in one answer, or the file is becoming shorter.
  if (read_->bytes.size() >= std::min<std::uint64_t>(wanted, attributes.size)) {
    found.beginning = {attributes, std::move(read_->bytes)};
  }
  Finish();
}

void FindAndReadOperation::FinishWithout(std::exception_ptr failure) {
  if (IsFileError(failure)) failure = nullptr;  // whoever opens it hears why
  Finish(std::move(failure));
}

}  // namespace ssh
