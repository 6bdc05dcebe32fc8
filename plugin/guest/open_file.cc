#include <algorithm>
#include <utility>

#include "guest/guest.h"

namespace guest {

OpenHandle::~OpenHandle() {
  if (guest_ != nullptr) guest_->CloseLater(handle_);
}

FileAttributes OpenFile::Stat(const support::Context& context) {
  return handle_.guest()
      .RoundTrip({request::StatOpen{*handle_}}, context)
      .front()
      .As<FileAttributes>();
}

std::string OpenFile::ReadSome(std::uint64_t offset, std::size_t length,
                               const support::Context& context) {
  std::vector<Reply> replies = handle_.guest().RoundTrip(
      {request::Read{*handle_, offset, std::min(length, kMaximumTransfer)}}, context);
  return std::move(replies.front().As<std::string>());
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
    const std::string_view piece = bytes.substr(0, kMaximumTransfer);
    handle_.guest()
        .RoundTrip({request::Write{*handle_, offset, piece}}, context)
        .front()
        .RequireSuccess();
    offset += piece.size();
    bytes.remove_prefix(piece.size());
  }
}

void OpenFile::SetAttributes(const AttributeChange& change, const support::Context& context) {
  handle_.guest()
      .RoundTrip({request::SetAttributes{*handle_, change}}, context)
      .front()
      .RequireSuccess();
}

bool OpenFile::Sync(const support::Context& context) {
  const Reply reply = handle_.guest().RoundTrip({request::Sync{*handle_}}, context).front();
  if (reply.Is(FileErrorCode::kUnsupported)) return false;
  reply.RequireSuccess();
  return true;
}

void OpenFile::Close(const support::Context& context) {
  Guest& guest = handle_.guest();
  guest.RoundTrip({request::Close{handle_.Release()}}, context).front().RequireSuccess();
}

FileBeginning OpenFile::ReadAndClose(std::size_t length, const support::Context& context) {
  Guest& guest = handle_.guest();
  const Handle handle = handle_.Release();
  std::vector<Reply> replies = guest.RoundTrip(
      {request::StatOpen{handle}, request::Read{handle, 0, std::min(length, kMaximumTransfer)},
       request::Close{handle}},
      context);
  return {replies[0].As<FileAttributes>(), std::move(replies[1].As<std::string>())};
}

void OpenFile::WriteAndClose(std::string_view bytes, std::optional<std::uint32_t> permissions,
                             const support::Context& context) {
  const std::size_t last =
      bytes.empty() ? 0 : (bytes.size() - 1) / kMaximumTransfer * kMaximumTransfer;
  Write(0, bytes.substr(0, last), context);
  Guest& guest = handle_.guest();
  const Handle handle = handle_.Release();
  std::vector<Request> requests;
  if (!bytes.empty()) requests.emplace_back(request::Write{handle, last, bytes.substr(last)});
  if (permissions)
    requests.emplace_back(request::SetAttributes{handle, {permissions, std::nullopt}});
  requests.emplace_back(request::Sync{handle});
  const std::size_t sync = requests.size() - 1;
  requests.emplace_back(request::Close{handle});
  std::vector<Reply> replies = guest.RoundTrip(std::move(requests), context);
  if (replies[sync].Is(FileErrorCode::kUnsupported)) replies[sync].failure.reset();
  for (const Reply& reply : replies) reply.RequireSuccess();
}

}  // namespace guest
