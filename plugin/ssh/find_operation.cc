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

}  // namespace

FindOperation::FindOperation(const std::string& path)
    : CompoundOperation({"resolve", path}, 0),
      real_path_(std::make_shared<AskOperation>(subject(), PathRequest(SftpType::kRealPath, path),
                                                "", 0)) {}

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
  attributes_ = std::make_shared<AskOperation>(SftpSubject{"stat", path},
                                               PathRequest(SftpType::kLStat, path), "", 0);
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
    try {
      if (attributes_failure_) std::rethrow_exception(std::exchange(attributes_failure_, nullptr));
      found.attributes =
          Expect<guest::FileAttributes>(std::move(attributes_->reply), attributes_->subject());
    } catch (const guest::FileError& error) {
      if (error.code() != guest::FileErrorCode::kNotFound) throw;
    }
    Finish();
  });
}

FindAndListOperation::FindAndListOperation(const std::string& path)
    : CompoundOperation({"list", path}, 0),
      find_(std::make_shared<FindOperation>(path)),
      // Asked last, and so answered when it is known what the path is; a server that answers in
      // another order is asked by the caller again.
      list_(std::make_shared<ListOperation>(path, [this] {
        return is_read_ = is_found_ &&
                          guest::IsItself(found.file, subject().path, guest::FileType::kDirectory);
      })) {}

void FindAndListOperation::Begin(SftpClient& client, TimePoint now) {
  BeginStep(find_, client, now, [this] {
    found.file = std::move(find_->found);
    is_found_ = true;
    FinishWhenComplete();
  });
  BeginPart(list_, client, now, [this](std::exception_ptr failure) {
    list_failure_ = std::move(failure);
    list_has_ended_ = true;
    FinishWhenComplete();
  });
}

void FindAndListOperation::FinishWhenComplete() {
  if (!is_found_ || !list_has_ended_) return;
  if (IsFileError(list_failure_)) {
    list_failure_ = nullptr;  // whoever asks for the entries hears why
  } else if (is_read_) {
    found.entries = std::move(list_->entries);
  }
  Finish(std::exchange(list_failure_, nullptr));
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
