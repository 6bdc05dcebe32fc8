// SPDX-License-Identifier: Apache-2.0
// Bursts to a server that answers anything in any order, while the caller may stop at any moment:
// each burst ends, invalid paths and names are refused, and what was opened is closed once.

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/input.h"
#include "ssh/sftp/sftp_service.h"
#include "support/errors.h"
#include "support/paths.h"
#include "testing/local_guest.h"
#include "unit/server/ssh/sftp/sftp_bytes.h"

namespace {

using namespace sftp_bytes;

constexpr int kOpen = 3;
constexpr int kClose = 4;
constexpr int kOpenDirectory = 11;

constexpr std::uint32_t kMaxData = 4096;  // of one READ or WRITE
constexpr std::size_t kLength = 10'000;   // so that it takes several
constexpr std::uint32_t kEndOfFile = 1;

/// Runs bursts as ssh::SftpService does, and plays the server.
class Play final : public testing_support::LocalGuest {
 public:
  explicit Play(fuzz::Input& input) : input_(input) {
    channel_.Receive(OpenSshVersion() + Packet(201, Number32(1) + Number64(0) + Number64(kMaxData) +
                                                        Number64(kMaxData) + Number64(0)),
                     now_);
    channel_.Consumed(channel_.output().size());
  }

  void CloseLater(const guest::Handle& handle) noexcept override {
    if (lost_) return;
    channel_.CloseHandle(handle, now_);
    TakeRequests();
  }

  /// Answers all pending requests; then nothing may be open.
  void End() {
    while (!requests_.empty()) AnswerOne(0, Status(requests_.front().id, 4));
    for (const auto& [handle, closed] : opened_) {
      fuzz::Require(lost_ || closed == 1, "what was opened is closed once");
      fuzz::Require(closed <= 1, "nothing is closed twice");
    }
  }

  std::vector<guest::Reply> RoundTrip(const std::vector<guest::Request>& requests,
                                      const support::Context& context) override {
    const auto burst = std::make_shared<ssh::Burst>(requests);
    if (lost_) throw support::ConnectionLost("over", false);
    burst->Begin(channel_, now_);
    TakeRequests();
    while (!burst->finished()) Step(*burst);
    burst->completion().Wait(context, [](support::StopReason) {});
    return burst->TakeReplies();
  }

 private:
  struct SentRequest {
    int type;
    std::uint32_t id;
    std::string rest;
  };

  void Step(ssh::Burst& burst) {
    fuzz::Require(!requests_.empty(), "a burst that waits has request for something");
    const bool is_over = input_.empty();
    const std::uint8_t what = input_.Byte();
    if (is_over) {
      AnswerOne(0, Status(requests_.front().id, kEndOfFile));
    } else if (what == 0xFF) {
      burst.Fail(std::make_exception_ptr(support::Stopped(support::StopReason::kCancelled)));
      TakeRequests();
    } else if (what == 0xFE) {
      lost_ = true;
      requests_.clear();
      channel_.FailAll("over");
      fuzz::Require(burst.finished(), "a burst ends with the line");
    } else {
      const std::size_t which = what % requests_.size();
      const std::uint8_t kind = input_.Byte();
      AnswerOne(which, Reply(requests_[which], kind, input_.Byte()));
    }
  }

  void AnswerOne(std::size_t which, const std::string& reply) {
    requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(which));
    channel_.Receive(reply, now_);
    TakeRequests();
  }

  std::string Reply(const SentRequest& request, std::uint8_t kind, std::uint8_t value) {
    switch (kind % 6) {
      case 0:
        return Status(request.id, value % 9U);
      case 1: {
        if (request.type != kOpen && request.type != kOpenDirectory) return Data(request.id, "");
        const bool is_empty = opened_.empty() && value == 0;
        const std::string handle = is_empty ? "" : std::to_string(opened_.size());
        opened_[handle] = 0;
        return Handle(request.id, handle);
      }
      case 2:
        return Data(request.id, std::string(value * std::size_t{20}, 'x'));
      case 3: {
        const std::string_view path = input_.Piece();
        return Names(request.id, value % 4U,
                     value % 4U == 1   ? Name(path)
                     : value % 4U == 2 ? Name("/p") + Name(path)
                     : value % 4U == 3 ? Name(path) + Name(".", 0040755) + Name("..")
                                       : "");
      }
      case 4:
        return Names(request.id, 1, Name("/p"));
      default: {
        constexpr std::uint32_t kModes[] = {0100644, 0040755, 0010644, 0120777};
        return Attributes(request.id, value % 8U, kModes[value / 8U % 4U]);
      }
    }
  }

  void TakeRequests() {
    std::string output(channel_.output());
    channel_.Consumed(output.size());
    std::string_view left = output;
    const auto number = [&](std::size_t at) {
      std::uint32_t value = 0;
      for (const char c : left.substr(at, 4)) value = value << 8U | static_cast<std::uint8_t>(c);
      return value;
    };
    while (!left.empty()) {
      const std::size_t length = number(0);
      SentRequest request{left[4], number(5), std::string(left.substr(9, length - 5))};
      left.remove_prefix(4 + length);
      if (request.type == kClose) {
        const auto closed = opened_.find(request.rest.substr(4));
        fuzz::Require(closed != opened_.end(), "only what was opened is closed");
        ++closed->second;
      }
      requests_.push_back(std::move(request));
    }
  }

  fuzz::Input& input_;
  const ssh::TimePoint now_{};
  ssh::ChannelBroker broker_{nullptr, [] { return false; }, [] { return ""; }};
  ssh::SftpChannel channel_{broker_, 1};
  std::vector<SentRequest> requests_;
  std::map<std::string, int> opened_;  ///< how often each handle was closed
  bool lost_ = false;
};

void RequirePath(const std::string& path) {
  fuzz::Require(path.starts_with('/') && support::CleanPath(path) == path &&
                    path.find('\0') == std::string::npos,
                "a path is valid");
}

guest::OpenFile OpenDirectory(guest::Guest& guest, const std::string& path) {
  auto reply = guest.Execute(guest::Request::OpenDirectory(path), {});
  return {guest, reply.As<guest::Handle>()};
}

void Call(guest::Guest& guest, std::size_t which) {
  switch (which) {
    case 0:
      return RequirePath(guest.RealPath("/p", {}));
    case 1:
      for (const guest::DirectoryEntry& entry : ReadNames(OpenDirectory(guest, "/p"), {})) {
        fuzz::Require(!entry.name.empty() && entry.name != "." && entry.name != ".." &&
                          entry.name.find_first_of(std::string_view("/\0", 2)) == std::string::npos,
                      "a name is valid");
      }
      return;
    case 2: {
      const auto file = guest.Open("/p", guest::OpenMode::kRead, 0, {});
      const auto replies = guest.RoundTrip({guest::Request::StatOpen(file->handle()),
                                            guest::Request::Read(file->handle(), 0, kLength)},
                                           {});
      const auto* bytes = std::get_if<std::string>(&replies[1].value);
      fuzz::Require(bytes == nullptr || bytes->size() <= kLength, "no more is read");
      return;
    }
    case 3:
      guest.Open("/p", guest::OpenMode::kCreateExclusive, 0600, {})
          ->WriteAndClose(std::string(kLength, 'x'), {0600, {}}, {});
      return;
    case 4: {
      const auto file = guest.Open("/p", guest::OpenMode::kRead, 0, {});
      fuzz::Require(file->ReadSome(5, kLength, {}).size() <= kLength, "no more is read");
      return static_cast<void>(file->WriteAndClose("", {}, {}));
    }
    default: {
      const std::string target = guest.ReadLink("/p", {});
      fuzz::Require(!target.empty() && target.find('\0') == std::string::npos, "a target is valid");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  Play play(input);
  constexpr int kMaxCalls = 8;
  for (int calls = 0; calls < kMaxCalls && !input.empty(); ++calls) {
    try {
      Call(play, input.Below(6));
    } catch (const support::Error& error) {
      fuzz::Require(error.what()[0] != '\0', "an error says what is wrong");
    }
  }
  play.End();
  return 0;
}
