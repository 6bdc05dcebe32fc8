#include "connection/guest_facts.h"

#include <charconv>
#include <string>
#include <string_view>

#include "support/errors.h"

namespace connection {
namespace {

constexpr const char* kScript = R"sh(printf '%s\n%s' "$(id -u)" "$HOME")sh";

}  // namespace

lima::GuestFacts AskGuestFacts(guest::Guest& guest, const support::Context& context) {
  const guest::ScriptAnswer given = guest::AskScript(guest, kScript, context);
  const std::string_view answer = given.output;
  const std::size_t newline = answer.find('\n');
  const std::string_view number = answer.substr(0, newline);
  std::uint32_t uid = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), uid);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  const std::string home(newline == std::string_view::npos ? "" : answer.substr(newline + 1));
  if (!is_number || !home.starts_with('/') || !given.exit_status) {
    throw support::CallError(
        "the guest did not report its user's id and home directory, which the instance's mounts "
        "need; set user.home and user.uid in its lima.yaml, or look for the reason with limactl "
        "shell");
  }
  lima::GuestFacts facts;
  facts.home = home;
  facts.uid = uid;
  return facts;
}

lima::GuestFacts FindGuestFacts(const lima::InstanceConfiguration& configuration,
                                const std::string& user, guest::Guest& guest,
                                const support::Context& context) {
  lima::GuestFacts facts;
  if (lima::NeedsGuestFacts(configuration)) facts = AskGuestFacts(guest, context);
  facts.user = user;
  return facts;
}

}  // namespace connection
