#include "doctor/guest_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include "support/errors.h"
#include "testing/temporary_directory.h"

namespace doctor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Shell functions of a server: `answer` reads one request and returns the given result, `call` the
/// given structured content.
constexpr const char* kServer = R"(
id=0
request() { read -r line && case $line in *'"id"'*) ;; *) request ;; esac; }
answer() { request; id=$((id + 1)); printf '{"jsonrpc":"2.0","id":%d,"result":%s}\n' $id "$1"; }
call() { answer "{\"structuredContent\":$1}"; }
fail() { answer '{"isError":true,"content":[{"type":"text","text":"no such directory"}]}'; }
)";

class ServerChecksTest : public ::testing::Test {
 protected:
  ServerChecksTest() { ::signal(SIGPIPE, SIG_IGN); }

  using Check = std::function<Finding(ServerUnderTest&, const support::Context&)>;

  static Finding Run(const std::string& script, const Check& check,
                     std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    ServerUnderTest server({"sh", "-c", kServer + script});
    return check(server, support::Context().WithTimeout(timeout));
  }
  static std::string ErrorOf(const std::string& script, const Check& check) {
    try {
      return "no error: " + Run(script, check).text;
    } catch (const support::CallError& error) {
      return error.what();
    }
  }
  Finding Shell(const std::string& structured_content) {
    return Run("call '" + structured_content + "'", [this](auto& server, const auto& context) {
      return CheckShell(server, mounts, context);
    });
  }

  testing_support::TemporaryDirectory directory;
  const Mounts mounts = {{directory.path(), {}, true, false}, {"/work", {}, false, false}};
};

TEST_F(ServerChecksTest, ServerListsItsTools) {
  const Finding finding =
      Run("answer '{}'; echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}'\n"
          "answer '{\"tools\":[{},{}]}'",
          CheckServer);
  EXPECT_EQ(finding.result, Result::kPassed);
  EXPECT_EQ(finding.text, "2 tools");
}

TEST_F(ServerChecksTest, WaitNoLongerThanTheDeadline) {
  EXPECT_THROW(Run("exec sleep 1000", CheckServer, std::chrono::milliseconds(30)),
               support::Stopped);
}

TEST_F(ServerChecksTest, MountedListsEachMount) {
  const Check check = [this](auto& server, const auto& context) {
    return CheckMounted(server, mounts, context);
  };
  EXPECT_EQ(Run("call '{}'; call '{}'", check).text, "all 2 of them");
  EXPECT_EQ(ErrorOf("call '{}'; fail", check), "/work: no such directory");
  EXPECT_EQ(
      Run("", [](auto& server, const auto& context) { return CheckMounted(server, {}, context); })
          .result,
      Result::kSkipped);
}

TEST_F(ServerChecksTest, GitIsOptionalAndFindIsNot) {
  const Check git = [this](auto& server, const auto& context) {
    return CheckGit(server, mounts, context);
  };
  const Check find = [this](auto& server, const auto& context) {
    return CheckFind(server, mounts, context);
  };
  const std::string missing = R"(call '{"error":"exit status 127","exit_code":127}')";
  EXPECT_EQ(Run(R"(call '{"stdout":"git version 2.9\n","exit_code":0}')", git).text,
            "git version 2.9");
  EXPECT_EQ(Run(missing, git).result, Result::kWarning);
  EXPECT_EQ(Run(R"(call '{"stdout":".\n","exit_code":0}')", find).result, Result::kPassed);
  EXPECT_EQ(Run(missing, find).result, Result::kFailed);
}

}  // namespace
}  // namespace doctor
