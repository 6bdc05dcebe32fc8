#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "ssh/sftp_operation.h"

namespace ssh {

/// An operation made of others, its parts: the next one begins where the last one's answer is read,
/// without the calling thread being woken in between, which would cost as much as a good part of a
/// round trip. Once the whole has ended, so have its parts: they see to it that nothing stays open.
class CompoundOperation : public SftpOperation {
 protected:
  using SftpOperation::SftpOperation;

  /// Begins `part`; `then` hears of its end.
  void BeginPart(const std::shared_ptr<SftpOperation>& part, SftpClient& client, TimePoint now,
                 Then then);

  /// The same for a part whose failure is that of the whole; `next` is called where it has none,
  /// and what it throws is the failure of the whole too.
  void BeginStep(const std::shared_ptr<SftpOperation>& part, SftpClient& client, TimePoint now,
                 std::function<void()> next);

  /// Runs `step`; what it throws is the failure of the whole.
  template <typename Step>
  void Attempt(const Step& step) {
    std::exception_ptr failure;
    try {
      step();
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) Finish(std::move(failure));
  }
};

/// guest::OpenFile::StatAndRead.
class StatAndReadOperation final : public CompoundOperation {
 public:
  StatAndReadOperation(const std::string& path, const RemoteHandle& handle, std::size_t length);

  void Begin(SftpClient& client, TimePoint now) override;

  guest::FileBeginning beginning;  ///< the result

 private:
  void OnPartEnd();

  std::size_t likely_;
  std::shared_ptr<AskOperation> stat_;
  std::shared_ptr<ReadOperation> most_;
  std::shared_ptr<ReadOperation> last_;
  int parts_left_ = 3;
};

/// guest::Guest::ListSmall.
class SmallListOperation final : public CompoundOperation {
 public:
  SmallListOperation(const std::string& path, std::uint64_t directory_bytes);

  void Begin(SftpClient& client, TimePoint now) override;
  [[nodiscard]] bool opens() const override { return true; }

  std::optional<std::vector<guest::DirectoryEntry>> entries;  ///< the result

 private:
  std::uint64_t directory_bytes_;
  bool is_small_ = false;
  std::shared_ptr<AskOperation> stat_;
  std::shared_ptr<ListOperation> list_;
};

}  // namespace ssh
