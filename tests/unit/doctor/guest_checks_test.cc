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

TEST_F(ServerChecksTest, ErrorsQuoteWhatTheServerSaid) {
  EXPECT_THAT(ErrorOf("answer '{}'; request; echo no more >&2; exit 6", CheckServer),
              AllOf(HasSubstr("exits with status 6 during tools/list"), HasSubstr("no more")));
  EXPECT_THAT(ErrorOf("echo Welcome; cat", CheckServer), HasSubstr("not an MCP message: Welcome"));
  EXPECT_THAT(ErrorOf("echo '{\"id\":1,\"error\":{\"message\":\"not here\"}}'; cat", CheckServer),
              AllOf(HasSubstr("initialize returns"), HasSubstr("not here")));
  EXPECT_THAT(ErrorOf("answer '[]'; cat", CheckServer), HasSubstr("initialize returns"));
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

TEST_F(ServerChecksTest, ShellRunsACommandInSilence) {
  EXPECT_EQ(Shell(R"({"stdout":"","stderr":"","exit_code":0})").result, Result::kPassed);
  const Finding loud = Shell(R"({"stdout":"Welcome )" + std::string(5000, 'x') + R"("})");
  EXPECT_EQ(loud.result, Result::kWarning);
  EXPECT_THAT(loud.text, AllOf(HasSubstr("Welcome"), ::testing::EndsWith("...")));
  EXPECT_LT(loud.text.size(), 500U);
  const Finding broken = Shell(R"({"stderr":"out of order","error":"exit status 5"})");
  EXPECT_EQ(broken.result, Result::kFailed);
  EXPECT_THAT(broken.text, AllOf(HasSubstr("exit status 5"), HasSubstr("out of order")));
}

TEST_F(ServerChecksTest, WriteMustArriveOnTheHost) {
  const Check check = [this](auto& server, const auto& context) {
    return CheckWrite(server, mounts, context);
  };
  const std::string file = directory.path() / ".limactl-mcp-doctor";
  EXPECT_EQ(Run("echo >'" + file + "'; call '{}'", check).text, directory.path().string());
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_THAT(ErrorOf("call '{}'", check), HasSubstr("does not appear on the host"));
  EXPECT_EQ(ErrorOf("fail", check), file + ": no such directory");
}

TEST_F(ServerChecksTest, WriteWarnsIfNothingIsWritable) {
  EXPECT_EQ(
      Run("", [this](auto& server,
                     const auto& context) { return CheckWrite(server, {mounts[1]}, context); })
          .result,
      Result::kWarning);
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
