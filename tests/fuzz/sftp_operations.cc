// Operations of several requests against a server that answers what it likes, in any order, while
// the caller may give up at any moment: each ends, and what was opened is closed, once.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/input.h"
#include "ssh/find_operation.h"
#include "support/errors.h"
#include "unit/ssh/sftp_bytes.h"

namespace {

using namespace sftp_bytes;

constexpr int kClose = 4;
constexpr int kOpen = 3;
constexpr int kOpenDirectory = 11;

struct Request {
  int type;
  std::uint32_t id;
  std::string rest;
};

/// Plays the server and the caller.
class Play {
 public:
  Play() {
    client_.Receive(OpenSshVersion() + NoLimits(1), now_);
    client_.Consumed(client_.output().size(), now_);
  }

  void Begin(std::uint8_t choice) {
    constexpr std::uint8_t kGuess = 0x80;
    constexpr std::uint8_t kWrongGuess = 0x40;
    if ((choice & kGuess) != 0) LearnHandle((choice & kWrongGuess) != 0 ? "wrong" : "0");
    operation_ = Make(choice);
    operation_->Begin(client_, now_);
    TakeRequests();
  }

  /// Answers one of the requests.
  void Answer(std::uint8_t which, std::uint8_t kind, std::uint8_t value) {
    if (asked_.empty()) return;
    const auto place = asked_.begin() + which % static_cast<std::ptrdiff_t>(asked_.size());
    const Request request = *place;
    asked_.erase(place);
    client_.Receive(Reply(request, kind, value), now_);
    TakeRequests();
  }

  void Cancel() {
    if (!operation_->finished()) {
      operation_->Finish(
          std::make_exception_ptr(support::Stopped(support::StopReason::kCancelled)));
    }
  }
  void LetGo() { operation_.reset(); }
  [[nodiscard]] bool has_operation() const { return operation_ != nullptr; }

  /// Answers all that is still asked; then nothing may be open, and the operation has ended.
  void AnswerTheRest() {
    while (!asked_.empty()) Answer(0, 0, 1);
    fuzz::Require(!operation_ || operation_->finished(), "an operation ends");
    for (const auto& [handle, closed] : opened_) {
      fuzz::Require(closed == 1, "what was opened is closed once");
    }
  }

  void Lose() {
    client_.Fail("over");
    fuzz::Require(!operation_ || operation_->finished(), "an operation ends with the line");
  }

 private:
  static std::shared_ptr<ssh::SftpOperation> Make(std::uint8_t choice) {
    switch (choice % 4) {
      case 0:
        return std::make_shared<ssh::FindOperation>("/p");
      case 1:
        return std::make_shared<ssh::FindAndListOperation>("/p");
      case 2:
        return std::make_shared<ssh::FindAndReadOperation>("/p", 100);
      default:
        return std::make_shared<ssh::SmallListOperation>("/p", 100);
    }
  }

  /// So that the next directory's handle is guessed to be this one.
  void LearnHandle(std::string_view handle) {
    const auto ignore = [](ssh::SftpReply&&) {};
    client_.Send(ssh::OpenRequest("/f", guest::OpenMode::kRead, 0), now_, ignore);
    client_.Receive(Handle(2, handle), now_);
    client_.Send(ssh::HandleRequest(ssh::SftpType::kClose, handle), now_, ignore);
    client_.Receive(Status(3, 0), now_);
    client_.Consumed(client_.output().size(), now_);
  }

  std::string Reply(const Request& request, std::uint8_t kind, std::uint8_t value) {
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
        return Data(request.id, std::string(value % 8U, 'x'));
      case 3:
        return Names(request.id, value % 4U,
                     value % 4U == 1   ? Name("/p")
                     : value % 4U == 2 ? Name("a") + Name("/q")
                     : value % 4U == 3 ? Name("a") + Name(".", 0040755) + Name("..")
                                       : "");
      default: {
        constexpr std::uint32_t kModes[] = {0100644, 0040755, 0010644, 0120777};
        return Attributes(request.id, value % 8U, kModes[value / 8U % 4U]);
      }
    }
  }

  void TakeRequests() {
    std::string output(client_.output());
    client_.Consumed(output.size(), now_);
    std::string_view left = output;
    const auto number = [&](std::size_t at) {
      std::uint32_t value = 0;
      for (const char c : left.substr(at, 4)) value = value << 8U | static_cast<std::uint8_t>(c);
      return value;
    };
    while (!left.empty()) {
      const std::size_t length = number(0);
      Request request{left[4], number(5), std::string(left.substr(9, length - 5))};
      left.remove_prefix(4 + length);
      if (request.type == 1) continue;  // INIT
      if (request.type == kClose) {
        const auto closed = opened_.find(request.rest.substr(4));
        fuzz::Require(closed != opened_.end(), "only what was opened is closed");
        ++closed->second;
      }
      asked_.push_back(std::move(request));
    }
  }

  const ssh::SftpClient::TimePoint now_{};
  ssh::SftpClient client_{std::chrono::seconds(1), now_};
  std::shared_ptr<ssh::SftpOperation> operation_;
  std::vector<Request> asked_;
  std::map<std::string, int> opened_;  ///< how often each handle was closed
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  Play play;
  play.Begin(input.Byte());
  constexpr int kMostSteps = 64;
  for (int step = 0; step < kMostSteps && !input.empty(); ++step) {
    const std::uint8_t what = input.Byte();
    if (what == 0xFF && play.has_operation()) play.Cancel();
    if (what == 0xFE) {
      if (play.has_operation()) play.Cancel();
      play.LetGo();
    }
    if (what == 0xFD) {
      play.Lose();
      return 0;
    }
    if (what < 0xFD) play.Answer(what, input.Byte(), input.Byte());
  }
  play.AnswerTheRest();
  return 0;
}
