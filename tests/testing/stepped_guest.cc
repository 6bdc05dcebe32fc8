#include "testing/stepped_guest.h"

#include <utility>
#include <variant>

namespace testing_support {

void SteppedGuest::Refuse(const std::string& path) {
  throw guest::FileError(guest::FileErrorCode::kUnsupported, "look at", path, "");
}

std::unique_ptr<shell::Process> SteppedGuest::Start(std::string,
                                                    std::shared_ptr<shell::ProcessEvents> events) {
  class NoProcess final : public shell::Process {
   public:
    void Send(std::string) override {}
    void EndInput() override {}
  };
  shell::ProcessEnd end;
  end.problem = "this guest starts no process";
  events->OnEnd(end);
  return std::make_unique<NoProcess>();
}

guest::Reply SteppedGuest::Answer(const guest::Request& request, const Context& context) {
  using guest::Operation;
  const std::string& path = request.path;
  switch (request.operation) {
    case Operation::kLStat:
      return {LStat(path, context), {}};
    case Operation::kRealPath:
      return {RealPath(path, context), {}};
    case Operation::kReadLink:
      return {ReadLink(path, context), {}};
    case Operation::kStatFileSystem:
      return {StatFileSystem(path, context), {}};
    case Operation::kOpen:
      return {Keep(path,
                   {Open(path, request.mode, request.change.permissions.value_or(0), context), {}}),
              {}};
    case Operation::kOpenDirectory: {
      auto names = List(path, context);
      names.insert(names.begin(), {".", {}});
      return {Keep(path, {nullptr, std::move(names)}), {}};
    }
    case Operation::kMakeDirectory:
      MakeDirectory(path, request.change.permissions.value(), context);
      return {};
    case Operation::kRename:
      Rename(path, request.to, context);
      return {};
    case Operation::kUnlink:
      Unlink(path, context);
      return {};
    case Operation::kReadDirectory:
      return {std::exchange(Find(request.handle)->names, {}), {}};
    case Operation::kClose:
      Take(request.handle)->file->Close(context);
      return {};
    default:
      return Answer(*Find(request.handle)->file, request, context);
  }
}

guest::Reply SteppedGuest::Answer(SteppedFile& file, const guest::Request& request,
                                  const Context& context) {
  using guest::Operation;
  if (request.operation == Operation::kStatOpen) return {file.Stat(context), {}};
  if (request.operation == Operation::kRead) {
    return {file.Read(request.offset, request.length, context), {}};
  }
  if (request.operation == Operation::kWrite) file.Write(request.offset, request.bytes, context);
  if (request.operation == Operation::kSetAttributes) file.SetAttributes(request.change, context);
  if (request.operation == Operation::kSync && !file.Sync(context)) {
    return {{}, guest::FileError(guest::FileErrorCode::kUnsupported, "sync", request.path, "")};
  }
  return {};
}

std::vector<guest::Reply> SteppedGuest::RoundTrip(const std::vector<guest::Request>& requests,
                                                  const support::Context& context) {
  std::vector<guest::Reply> replies;
  try {
    for (const guest::Request& request : requests) {
      try {
        replies.push_back(Answer(request, context));
        CheckPath(request, replies.back());
      } catch (const guest::FileError& error) {
        replies.push_back({{}, error});
      }
    }
  } catch (...) {
    for (const guest::Reply& reply : replies) {
      if (const auto* handle = std::get_if<guest::Handle>(&reply.value)) CloseLater(*handle);
    }
    // Those after the request that threw.
    for (std::size_t i = replies.size() + 1; i < requests.size(); ++i) {
      if (requests[i].operation == guest::Operation::kClose) CloseLater(requests[i].handle);
    }
    throw;
  }
  return replies;
}

void SteppedGuest::CloseLater(const guest::Handle& handle) noexcept {
  const std::scoped_lock lock(mutex_);
  opened_.erase(handle.value);
}

std::size_t SteppedGuest::open_handles() const {
  const std::scoped_lock lock(mutex_);
  return opened_.size();
}

guest::Handle SteppedGuest::Keep(const std::string& path, Opened opened) {
  const std::scoped_lock lock(mutex_);
  guest::Handle handle{std::to_string(next_++), 1, path};
  opened_[handle.value] = std::make_shared<Opened>(std::move(opened));
  return handle;
}

std::shared_ptr<SteppedGuest::Opened> SteppedGuest::Find(const guest::Handle& handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = opened_.find(handle.value);
  if (found == opened_.end()) {
    throw guest::FileError(guest::FileErrorCode::kFailure, "use the handle of", handle.path, "");
  }
  return found->second;
}

std::shared_ptr<SteppedGuest::Opened> SteppedGuest::Take(const guest::Handle& handle) {
  std::shared_ptr<Opened> opened = Find(handle);
  CloseLater(handle);
  return opened;
}

}  // namespace testing_support
