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

  guest::Reply operator()(const guest::request::Stat& asked) {
    return {guest_.Stat(asked.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::LStat& asked) {
    return {guest_.LStat(asked.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::RealPath& asked) {
    return {guest_.RealPath(asked.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::ReadLink& asked) {
    return {guest_.ReadLink(asked.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::StatFileSystem& asked) {
    return {guest_.StatFileSystem(asked.path, context_), {}};
  }
  guest::Reply operator()(const guest::request::Open& asked) {
    auto file = guest_.Open(asked.path, asked.mode, asked.permissions, context_);
    return {guest_.Keep(asked.path, {std::move(file), {}}), {}};
  }
  guest::Reply operator()(const guest::request::OpenDirectory& asked) {
    auto names = guest_.List(asked.path, context_);
    names.insert(names.begin(), {".", {}});
    return {guest_.Keep(asked.path, {nullptr, std::move(names)}), {}};
  }
  guest::Reply operator()(const guest::request::MakeDirectory& asked) {
    guest_.MakeDirectory(asked.path, asked.permissions, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::Rename& asked) {
    guest_.Rename(asked.from, asked.to, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::Unlink& asked) {
    guest_.Unlink(asked.path, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::StatOpen& asked) {
    return {File(asked.handle).Stat(context_), {}};
  }
  guest::Reply operator()(const guest::request::Read& asked) {
    return {File(asked.handle).Read(asked.offset, asked.length, context_), {}};
  }
  guest::Reply operator()(const guest::request::Write& asked) {
    File(asked.handle).Write(asked.offset, asked.bytes, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::SetAttributes& asked) {
    File(asked.handle).SetAttributes(asked.change, context_);
    return {};
  }
  guest::Reply operator()(const guest::request::Sync& asked) {
    if (File(asked.handle).Sync(context_)) return {};
    return {{},
            guest::FileError(guest::FileErrorCode::kUnsupported, "sync", asked.handle.path, "")};
  }
  guest::Reply operator()(const guest::request::Close& asked) {
    guest_.Take(asked.handle)->file->Close(context_);
    return {};
  }
  guest::Reply operator()(const guest::request::ReadDirectory& asked) {
    return {std::exchange(guest_.Find(asked.handle)->names, {}), {}};
  }

 private:
  SteppedFile& File(const guest::Handle& handle) { return *guest_.Find(handle)->file; }

  SteppedGuest& guest_;
  const support::Context& context_;
};

std::vector<guest::Reply> SteppedGuest::Answer(std::vector<guest::Request> requests,
                                               const support::Context& context) {
  std::vector<guest::Reply> replies;
  try {
    for (const guest::Request& request : requests) {
      try {
        replies.push_back(std::visit(Step(*this, context), request));
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
