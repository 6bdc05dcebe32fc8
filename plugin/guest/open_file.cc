#include <algorithm>
#include <utility>

#include "guest/guest.h"

namespace guest {

Request Request::Open(std::string path, OpenMode mode, std::uint32_t permissions) {
  Request request{.operation = Operation::kOpen, .path = std::move(path), .mode = mode};
  if (mode == OpenMode::kCreateExclusive) request.change.permissions = permissions;
  return request;
}

Request Request::MakeDirectory(std::string path, std::uint32_t permissions) {
  Request request{Operation::kMakeDirectory, std::move(path)};
  request.change.permissions = permissions;
  return request;
}

Request Request::With(const Handle& handle, Operation operation) {
  return {.operation = operation, .path = handle.path, .handle = handle};
}

Request Request::Read(const Handle& handle, std::uint64_t offset, std::size_t length) {
  Request request = With(handle, Operation::kRead);
  request.offset = offset;
  request.length = std::min(length, kMaxTransfer);
  return request;
}

Request Request::Write(const Handle& handle, std::uint64_t offset, std::string_view bytes) {
  Request request = With(handle, Operation::kWrite);
  request.offset = offset;
  request.bytes = bytes;
  return request;
}

Request Request::SetAttributes(const Handle& handle, const AttributeChange& change) {
  Request request = With(handle, Operation::kSetAttributes);
  request.change = change;
  return request;
}

OpenHandle::~OpenHandle() {
  if (guest_ != nullptr) guest_->CloseLater(handle_);
}

FileAttributes OpenFile::Stat(const support::Context& context) {
  return handle_.guest().Execute(Request::StatOpen(*handle_), context).As<FileAttributes>();
}

std::string OpenFile::ReadSome(std::uint64_t offset, std::size_t length,
                               const support::Context& context) {
  Reply reply = handle_.guest().Execute(Request::Read(*handle_, offset, length), context);
  return std::move(reply.As<std::string>());
}

std::string OpenFile::Read(std::uint64_t offset, std::size_t length,
                           const support::Context& context) {
  std::string bytes;
  while (bytes.size() < length) {
    const std::string some = ReadSome(offset + bytes.size(), length - bytes.size(), context);
    if (some.empty()) break;
    bytes += some;
  }
  return bytes;
}

void OpenFile::Write(std::uint64_t offset, std::string_view bytes,
                     const support::Context& context) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxTransfer);
    handle_.guest().Execute(Request::Write(*handle_, offset, piece), context).RequireSuccess();
    offset += piece.size();
    bytes.remove_prefix(piece.size());
  }
}

void OpenFile::SetAttributes(const AttributeChange& change, const support::Context& context) {
  handle_.guest().Execute(Request::SetAttributes(*handle_, change), context).RequireSuccess();
}

bool OpenFile::Sync(const support::Context& context) {
  const Reply reply = handle_.guest().Execute(Request::Sync(*handle_), context);
  if (reply.Is(FileErrorCode::kUnsupported)) return false;
  reply.RequireSuccess();
  return true;
}

void OpenFile::Close(const support::Context& context) {
  Guest& guest = handle_.guest();
  guest.Execute(Request::Close(handle_.Release()), context).RequireSuccess();
}

FileBeginning OpenFile::ReadBeginning(std::size_t length, const support::Context& context) {
  std::vector<Reply> replies = handle_.guest().RoundTrip(
      {Request::StatOpen(*handle_), Request::Read(*handle_, 0, length)}, context);
  return {replies[0].As<FileAttributes>(), std::move(replies[1].As<std::string>())};
}

void OpenFile::WriteAndClose(std::string_view bytes, std::optional<std::uint32_t> permissions,
                             const support::Context& context) {
  const std::size_t last = bytes.empty() ? 0 : (bytes.size() - 1) / kMaxTransfer * kMaxTransfer;
  Write(0, bytes.substr(0, last), context);
  Guest& guest = handle_.guest();
  const Handle handle = handle_.Release();
  std::vector<Request> requests;
  if (!bytes.empty()) requests.push_back(Request::Write(handle, last, bytes.substr(last)));
  if (permissions) requests.push_back(Request::SetAttributes(handle, {permissions, std::nullopt}));
  requests.push_back(Request::Sync(handle));
  const std::size_t sync = requests.size() - 1;
  requests.push_back(Request::Close(handle));
  std::vector<Reply> replies = guest.RoundTrip(std::move(requests), context);
  if (replies[sync].Is(FileErrorCode::kUnsupported)) replies[sync].failure.reset();
  for (const Reply& reply : replies) reply.RequireSuccess();
}

}  // namespace guest
