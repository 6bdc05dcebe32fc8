#include "connection/instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace connection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// An instance that has never been started: limactl writes its ssh.config then.
class InstructionsTest : public ::testing::Test {
 protected:
  InstructionsTest() {
    options_.lima_home = directory_.path();
    options_.name = "agent";
    std::filesystem::create_directory(directory_.path() / "agent");
  }
  void Configure(const std::string& text) const {
    std::ofstream(directory_.path() / "agent/lima.yaml") << text;
  }

  testing_support::TemporaryDirectory directory_;
  InstanceOptions options_;
};

TEST_F(InstructionsTest, ListTheRootsOfANewInstance) {
  Configure("mounts: [{location: /work, mountPoint: /mnt, writable: true}, {location: /docs}]\n");
  EXPECT_THAT(Instructions(options_),
              AllOf(StartsWith("Files, search and commands in the Lima virtual machine \"agent\" "
                               "(Linux), not on the host: use these tools"),
                    HasSubstr("\n- /work (writable), which is /mnt in the guest\n"),
                    HasSubstr("\n- /docs (read-only)")));
}

TEST_F(InstructionsTest, ListOnlyAllowedRoots) {
  Configure("mounts: [{location: /work}, {location: /docs}]\n");
  options_.roots.narrowed_roots = {{"/work/a"}};
  EXPECT_THAT(Instructions(options_),
              AllOf(HasSubstr("\n- /work/a (read-only)"), Not(HasSubstr("/docs"))));
}

TEST_F(InstructionsTest, ReportThatNothingIsMounted) {
  Configure("mounts: []\n");
  EXPECT_THAT(Instructions(options_), HasSubstr("mounts no directory"));
}

TEST_F(InstructionsTest, ReportWhyTheToolsCannotBeUsed) {
  Configure("mounts: [\n");
  EXPECT_THAT(Instructions(options_),
              AllOf(HasSubstr("the Lima virtual machine \"agent\", not on the host"),
                    HasSubstr("cannot be used now: "),
                    HasSubstr((directory_.path() / "agent/lima.yaml").string())));
}

/// A guest whose user has a given home directory.
class QueryGuestFactsTest : public ::testing::Test {
 protected:
  void SetHome(const std::string& home) {
    guest.set_run([this, home](shell::Script script, shell::OutputSink& sink,
                               const support::Context& context) {
      const std::string variable = "\"$HOME\"";
      const std::size_t at = script.text.find(variable);
      if (at != std::string::npos) script.text.replace(at, variable.size(), "'" + home + "'");
      return guest.RunHere(script, sink, context);
    });
  }
  testing_support::LocalGuest guest;
};

TEST_F(QueryGuestFactsTest, ReturnsTheUsersIdAndHome) {
  SetHome("/home/of the\nuser");
  const lima::GuestFacts facts = QueryGuestFacts(guest, {});
  EXPECT_EQ(facts.uid.value_or(~0U), ::getuid());
  EXPECT_EQ(facts.home.value_or(""), "/home/of the\nuser");
}

TEST_F(QueryGuestFactsTest, RefusesAnInvalidHome) {
  for (const char* home : {"", "relative"}) {
    SetHome(home);
    EXPECT_THAT(
        [this] { QueryGuestFacts(guest, {}); },
        ::testing::ThrowsMessage<support::CallError>(HasSubstr("set user.home and user.uid")))
        << home;
  }
}

}  // namespace
}  // namespace connection
