#include "connection/guest_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "support/errors.h"
#include "testing/local_guest.h"

namespace connection {
namespace {

using testing_support::Operation;

/// A guest whose user has a given home directory.
class GuestWithHome final : public testing_support::LocalGuest {
 public:
  explicit GuestWithHome(std::string home) : home_(std::move(home)) {}

  shell::RunEnd RunScript(const std::string& script, shell::OutputSink& sink,
                          const support::Context& context) override {
    std::string changed = script;
    const std::string variable = "\"$HOME\"";
    const std::size_t at = changed.find(variable);
    if (at != std::string::npos) changed.replace(at, variable.size(), "'" + home_ + "'");
    return LocalGuest::RunScript(changed, sink, context);
  }

 private:
  std::string home_;
};

TEST(AskGuestFacts, ReturnsTheUsersIdAndHome) {
  GuestWithHome guest("/home/of the\nuser");
  const lima::GuestFacts facts = AskGuestFacts(guest, {});
  EXPECT_EQ(facts.uid.value_or(~0U), ::getuid());
  EXPECT_EQ(facts.home.value_or(""), "/home/of the\nuser");
}

TEST(AskGuestFacts, RefusesAnInvalidHome) {
  for (const char* home : {"", "relative"}) {
    GuestWithHome guest(home);
    try {
      AskGuestFacts(guest, {});
      ADD_FAILURE() << "\"" << home << "\" was taken";
    } catch (const support::CallError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("set user.home and user.uid"));
    }
  }
}

TEST(FindGuestFacts, QueriesTheGuestOnlyForWhatNoFileSays) {
  GuestWithHome guest("/home/user");
  lima::InstanceConfiguration configuration;
  lima::MountEntry entry;
  entry.location = "/work";
  configuration.mounts = {entry};
  lima::GuestFacts facts = FindGuestFacts(configuration, "user", guest, {});
  EXPECT_EQ(facts.user.value_or(""), "user");
  EXPECT_FALSE(facts.home);
  EXPECT_EQ(guest.count(Operation::kRun), 0);

  entry.mount_point = "{{.Home}}/work";
  configuration.mounts = {entry};
  facts = FindGuestFacts(configuration, "user", guest, {});
  EXPECT_EQ(facts.user.value_or(""), "user");
  EXPECT_EQ(facts.home.value_or(""), "/home/user");
  EXPECT_EQ(guest.count(Operation::kRun), 1);
}

}  // namespace
}  // namespace connection
