#include "connection/guest_facts.h"

#include <charconv>
#include <string>
#include <string_view>

#include "support/errors.h"
#include "tools/guest_script.h"

namespace connection {
namespace {

/// Bytes; a uid and a path need far less.
constexpr std::size_t kMaximumAnswer = 64 * 1024;

constexpr const char* kScript = R"sh(printf '%s\n%s' "$(id -u)" "$HOME")sh";

class AnswerSink final : public guest::OutputSink {
 public:
  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    if (stream == guest::OutputStream::kStandardOutput) answer_ += bytes;
    return answer_.size() <= kMaximumAnswer;
  }
  [[nodiscard]] const std::string& answer() const { return answer_; }

 private:
  std::string answer_;
};

}  // namespace

lima::GuestFacts AskGuestFacts(guest::Guest& guest, const support::Context& context) {
  AnswerSink sink;
  tools::RunScript(guest, kScript, sink, context);
  const std::string_view answer = sink.answer();
  const std::size_t newline = answer.find('\n');
  const std::string_view number = answer.substr(0, newline);
  std::uint32_t uid = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), uid);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  const std::string home(newline == std::string_view::npos ? "" : answer.substr(newline + 1));
  if (!is_number || !home.starts_with('/') || home.size() > kMaximumAnswer) {
    throw support::CallError(
        "the guest did not tell its user's id and home directory, which the mounts of the instance "
        "depend on; set user.home and user.uid in its lima.yaml, or log in with limactl shell to "
        "see what is wrong");
  }
  lima::GuestFacts facts;
  facts.home = home;
  facts.uid = uid;
  return facts;
}

}  // namespace connection
