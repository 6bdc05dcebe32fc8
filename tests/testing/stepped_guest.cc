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

/// Carries out one request.
class SteppedGuest::Step {
 public:
  Step(SteppedGuest& guest, const support::Context& context) : guest_(guest), context_(context) {}

  guest::Reply operator()(const guest::request::Stat& request) {
    return {guest_.Stat(request.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::LStat& request) {
    return {guest_.LStat(request.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::RealPath& request) {
    return {guest_.RealPath(request.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::ReadLink& request) {
    return {guest_.ReadLink(request.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::StatFileSystem& request) {
    return {guest_.StatFileSystem(request.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::Open& request) {
    auto file = guest_.Open(request.path, request.mode, request.permissions, context_);
    return {guest_.Keep(request.path, {std::move(file), {}}), {}};
  }
  guest::Reply operator()(const guest::request::OpenDirectory& request) {
    auto names = guest_.List(request.path, context_);
    names.insert(names.begin(), {".", {}});
    return {guest_.Keep(request.path, {nullptr, std::move(names)}), {}};
  }
  guest::Reply operator()(const guest::request::MakeDirectory& request) {
    guest_.MakeDirectory(request.path, request.permissions, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::Rename& request) {
    guest_.Rename(request.from, request.to, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::Unlink& request) {
    guest_.Unlink(request.path, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::StatOpen& request) {
    return {File(request.handle).Stat(context_), {}};
  }
  guest::Reply operator()(const guest::request::Read& request) {
    return {File(request.handle).Read(request.offset, request.length, context_), {}};
  }
  guest::Reply operator()(const guest::request::Write& request) {
    File(request.handle).Write(request.offset, request.bytes, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::SetAttributes& request) {
    File(request.handle).SetAttributes(request.change, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::Sync& request) {
    if (File(request.handle).Sync(context_)) return {};
    return {{},
            guest::FileError(guest::FileErrorCode::kUnsupported, "sync", request.handle.path, "")};
  }
  guest::Reply operator()(const guest::request::Close& request) {
    guest_.Take(request.handle)->file->Close(context_);
    return {};
  }
  guest::Reply operator()(const guest::request::ReadDirectory& request) {
    return {std::exchange(guest_.Find(request.handle)->names, {}), {}};
  }

 private:
  SteppedFile& File(const guest::Handle& handle) { return *guest_.Find(handle)->file; }

  SteppedGuest& guest_;
  const support::Context& context_;
};

std::vector<guest::Reply> SteppedGuest::RoundTrip(const std::vector<guest::Request>& requests,
                                                  const support::Context& context) {
  std::vector<guest::Reply> replies;
  try {
    for (const guest::Request& request : requests) {
      try {
        replies.push_back(std::visit(Step(*this, context), request));
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
      if (const auto* close = std::get_if<guest::request::Close>(&requests[i])) {
        CloseLater(close->handle);
      }
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
