#include "ssh/remote_file.h"

#include <exception>
#include <utility>
#include <vector>

#include "ssh/compound_operation.h"

namespace ssh {
namespace {

class RemoteFile final : public guest::OpenFile {
 public:
  RemoteFile(std::shared_ptr<SessionLoop> loop, std::string path, RemoteHandle handle)
      : loop_(std::move(loop)), path_(std::move(path)), handle_(std::move(handle)) {}
  RemoteFile(const RemoteFile&) = delete;
  RemoteFile& operator=(const RemoteFile&) = delete;
  ~RemoteFile() override {
    if (open_) loop_->CloseHandle(handle_);
  }

  guest::FileAttributes Stat(const support::Context& context) override {
    const SftpSubject subject{"stat", path_};
    return Expect<guest::FileAttributes>(
        Ask(*loop_, subject, HandleRequest(SftpType::kFStat, handle_.handle), context, {},
            &handle_),
        subject);
  }

  std::string Read(std::uint64_t offset, std::size_t length,
                   const support::Context& context) override {
    const auto read =
        std::make_shared<ReadOperation>(SftpSubject{"read", path_}, handle_, offset, length);
    loop_->Run(read, context);
    return std::move(read->bytes);
  }

  void Write(std::uint64_t offset, std::string_view bytes,
             const support::Context& context) override {
    const auto write =
        std::make_shared<WriteOperation>(SftpSubject{"write", path_}, handle_, offset, bytes);
    loop_->Run(write, context);
  }

  void SetAttributes(const guest::AttributeChange& change,
                     const support::Context& context) override {
    const SftpSubject subject{"set the attributes of", path_};
    Ask(*loop_, subject, SetAttributesRequest(handle_.handle, change), context, {}, &handle_);
  }

  bool Sync(const support::Context& context) override {
    try {
      Ask(*loop_, {"sync", path_}, ExtendedRequest(kSyncExtension, {handle_.handle}), context,
          kSyncExtension, &handle_);
    } catch (const guest::FileError& error) {
      if (error.code() == guest::FileErrorCode::kUnsupported) return false;
      throw;
    }
    return true;
  }

  void Close(const support::Context& context) override {
    const auto failures = loop_->RunTogether(
        {Prepare("close", HandleRequest(SftpType::kClose, handle_.handle))}, context);
    open_ = false;  // not where it throws: nothing was sent then
    ThrowFirst(failures);
  }

  guest::FileBeginning StatAndRead(std::size_t length, const support::Context& context) override {
    const auto operation = std::make_shared<StatAndReadOperation>(path_, handle_, length);
    loop_->Run(operation, context);
    return std::move(operation->beginning);
  }

  void WriteAndClose(std::string_view bytes, const support::Context& context) override {
    if (bytes.size() > guest::kLargestWriteAtOnce) return OpenFile::WriteAndClose(bytes, context);
    std::vector<std::shared_ptr<SftpOperation>> together;
    if (!bytes.empty())
      together.push_back(Prepare("write", WriteRequest(handle_.handle, 0, bytes)));
    const std::size_t sync = together.size();
    together.push_back(
        Prepare("sync", ExtendedRequest(kSyncExtension, {handle_.handle}), kSyncExtension));
    together.push_back(Prepare("close", HandleRequest(SftpType::kClose, handle_.handle)));
    auto failures = loop_->RunTogether(together, context);
    open_ = false;
    if (IsUnsupported(failures[sync])) failures[sync] = nullptr;
    ThrowFirst(failures);
  }

 private:
  [[nodiscard]] std::shared_ptr<AskOperation> Prepare(const std::string& operation,
                                                      SftpRequest request,
                                                      std::string_view extension = {}) const {
    return std::make_shared<AskOperation>(SftpSubject{operation, path_}, std::move(request),
                                          extension, handle_.channel);
  }

  static void ThrowFirst(const std::vector<std::exception_ptr>& failures) {
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  static bool IsUnsupported(const std::exception_ptr& failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const guest::FileError& error) {
      return error.code() == guest::FileErrorCode::kUnsupported;
    } catch (const std::exception&) {
      return false;
    }
    return false;
  }

  std::shared_ptr<SessionLoop> loop_;
  std::string path_;
  RemoteHandle handle_;
  bool open_ = true;
};

}  // namespace

SftpReply Ask(SessionLoop& loop, const SftpSubject& subject, SftpRequest request,
              const support::Context& context, std::string_view extension,
              const RemoteHandle* handle) {
  const auto ask = std::make_shared<AskOperation>(subject, std::move(request), extension,
                                                  handle == nullptr ? 0 : handle->channel);
  loop.Run(ask, context);
  return std::move(ask->reply);
}

std::unique_ptr<guest::OpenFile> OpenRemoteFile(const std::shared_ptr<SessionLoop>& loop,
                                                const std::string& path, guest::OpenMode mode,
                                                std::uint32_t permissions,
                                                const support::Context& context) {
  const SftpSubject subject{"open", path};
  const auto ask =
      std::make_shared<AskOperation>(subject, OpenRequest(path, mode, permissions), "", 0);
  loop->Run(ask, context);
  auto handle = Expect<SftpHandle>(std::move(ask->reply), subject);
  return std::make_unique<RemoteFile>(loop, path,
                                      RemoteHandle{std::move(handle.handle), ask->channel()});
}

}  // namespace ssh
