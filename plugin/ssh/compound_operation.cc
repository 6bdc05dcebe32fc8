#include "ssh/compound_operation.h"

#include <utility>

namespace ssh {

void CompoundOperation::BeginPart(const std::shared_ptr<SftpOperation>& part, SftpClient& client,
                                  TimePoint now, Then then) {
  part->MakePartOf(shared_from_this(), std::move(then));
  part->Begin(client, now);
}

void CompoundOperation::BeginStep(const std::shared_ptr<SftpOperation>& part, SftpClient& client,
                                  TimePoint now, std::function<void()> next) {
  BeginPart(part, client, now, [this, next = std::move(next)](std::exception_ptr failure) {
    if (failure) {
      Finish(std::move(failure));
    } else {
      Attempt(next);
    }
  });
}

StatAndReadOperation::StatAndReadOperation(const std::string& path, const RemoteHandle& handle,
                                           std::size_t length)
    : CompoundOperation({"read", path}, handle.channel),
      // The last byte by itself: where the file ends before it, a longer read would have to be told
      // so by a second answer.
      likely_(length > 0 ? length - 1 : 0),
      stat_(std::make_shared<AskOperation>(SftpSubject{"stat", path},
                                           HandleRequest(SftpType::kFStat, handle.handle), "",
                                           handle.channel)),
      most_(std::make_shared<ReadOperation>(subject(), handle, 0, likely_)),
      last_(std::make_shared<ReadOperation>(subject(), handle, likely_, length - likely_)) {}

void StatAndReadOperation::Begin(SftpClient& client, TimePoint now) {
  const auto on_end = [this] { OnPartEnd(); };
  BeginStep(stat_, client, now, on_end);
  BeginStep(most_, client, now, on_end);
  BeginStep(last_, client, now, on_end);
}

void StatAndReadOperation::OnPartEnd() {
  if (--parts_left_ > 0) return;
  beginning.attributes = Expect<guest::FileAttributes>(std::move(stat_->reply), stat_->subject());
  beginning.bytes = std::move(most_->bytes);
  if (beginning.bytes.size() == likely_) beginning.bytes += last_->bytes;
  Finish();
}

SmallListOperation::SmallListOperation(const std::string& path, std::uint64_t directory_bytes)
    : CompoundOperation({"list", path}, 0),
      directory_bytes_(directory_bytes),
      stat_(std::make_shared<AskOperation>(SftpSubject{"stat", path},
                                           PathRequest(SftpType::kStat, path), "", 0)),
      list_(std::make_shared<ListOperation>(path, [this] { return is_small_; })) {}

void SmallListOperation::Begin(SftpClient& client, TimePoint now) {
  BeginStep(stat_, client, now, [this] {
    const auto attributes =
        Expect<guest::FileAttributes>(std::move(stat_->reply), stat_->subject());
    is_small_ = attributes.size < directory_bytes_;
  });
  // Answered after the other: servers that answer in another order find every directory large.
  BeginPart(list_, client, now, [this](std::exception_ptr failure) {
    if (is_small_) entries = std::move(list_->entries);
    Finish(std::move(failure));
  });
}

}  // namespace ssh
