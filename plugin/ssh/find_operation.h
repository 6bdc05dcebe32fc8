#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "guest/guest.h"
#include "ssh/compound_operation.h"

namespace ssh {

/// guest::Guest::FindRealFile.
class FindOperation final : public CompoundOperation {
 public:
  explicit FindOperation(const std::string& path);

  void Begin(SftpClient& client, TimePoint now) override;

  guest::RealFile found;  ///< the result

 private:
  /// The last one asked counts.
  void AskAttributes(SftpClient& client, TimePoint now, const std::string& path);
  void FinishWhenComplete();

  std::shared_ptr<AskOperation> real_path_;
  std::shared_ptr<AskOperation> attributes_;
  std::exception_ptr attributes_failure_;
  bool path_is_known_ = false;
  bool attributes_are_known_ = false;  ///< or why not
};

/// guest::Guest::FindAndList. The directory is opened, and where its handle can be guessed read, at
/// once with looking for it: neither changes the guest's files, and names are kept only where it is
/// known to be `path` itself. Its attributes are those of its entry "."; of what is not read they
/// are asked for then, with one round trip more.
class FindAndListOperation final : public CompoundOperation {
 public:
  explicit FindAndListOperation(const std::string& path);

  void Begin(SftpClient& client, TimePoint now) override;
  [[nodiscard]] bool opens() const override { return true; }

  guest::FoundDirectory found;  ///< the result

 private:
  void OnPartEnd(SftpClient& client);

  std::shared_ptr<AskOperation> real_path_;
  std::shared_ptr<ListOperation> list_;
  std::shared_ptr<AskOperation> attributes_;
  bool is_read_ = false;
  int parts_left_ = 2;
};

/// guest::Guest::FindAndRead, for files of less than SftpClient::maximum_read, which come with one
/// answer. The file is not opened before it is known to be a regular one: a FIFO would block the
/// guest's server. Stat, one read and close are sent at once.
class FindAndReadOperation final : public CompoundOperation {
 public:
  FindAndReadOperation(const std::string& path, std::uint64_t most_bytes);

  void Begin(SftpClient& client, TimePoint now) override;
  [[nodiscard]] bool opens() const override { return true; }

  guest::FoundFile found;  ///< the result

 private:
  void OnFound(SftpClient& client);
  void ReadAndClose(SftpClient& client, const RemoteHandle& handle);
  void TakeContent(std::size_t wanted);
  /// Without the content.
  void FinishWithout(std::exception_ptr failure);

  std::uint64_t most_bytes_;
  std::shared_ptr<FindOperation> find_;
  std::shared_ptr<AskOperation> open_;
  std::shared_ptr<AskOperation> stat_;
  std::shared_ptr<ReadOperation> read_;
};

}  // namespace ssh
