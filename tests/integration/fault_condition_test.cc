// Guests that lack something: each kind of call under each condition.

#include <gmock/gmock.h>

#include <map>

#include "integration/fault_matrix.h"
#include "testing/eventually.h"
#include "testing/guest_processes.h"

namespace integration {
namespace {

using nlohmann::json;
using testing_support::Eventually;
using testing_support::LoopbackInstance;
using testing_support::TextOf;

/// The allowed results of a call, separated by "|": "ok", or a text of its error.
using AllowedResults = std::map<std::string, std::string>;

/// More than sshd has channels.
constexpr int kManyCommands = 12;

class GuestCondition : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("root/words.txt", "alpha\nbeta\n");
    options_.mounts = {{Path("root").string(), "", true}};
    for (const char* call : {"list", "read", "write", "glob", "search", "command", "queued"}) {
      allowed_[call] = "ok";
    }
  }

  /// `shell` runs everything that the session starts, with only this PATH.
  void UseShell(const std::string& shell, const std::string& programs) {
    options_.sshd_options.push_back("ForceCommand PATH=" + programs + " SHELL=" + programs +
                                    "/sh exec " + shell + " -c \"$SSH_ORIGINAL_COMMAND\"");
    options_.lima_yaml += "user:\n  shell: " + programs + "/sh\n";
  }

  /// Makes each kind of call.
  void Run() {
    LoopbackInstance& instance = StartInstance(options_);
    Serve();
    const std::string root = Path("root").string();
    Check("list", "list_directory", {{"path", root}}, "words.txt");
    Check("command", "run_shell_command", {{"command", {"echo", "alive"}}, {"directory", root}},
          "alive");
    Check("write", "write_file", {{"path", root + "/new.txt"}, {"content", "gamma\n"}}, "{}");
    Check("read", "read_file", {{"path", root + "/words.txt"}}, "alpha");
    Check("glob", "glob", {{"path", root}, {"pattern", "**/words*"}}, "words.txt");
    Check("search", "search_file_content", {{"path", root}, {"pattern", "bet."}}, "words.txt:2");
    CheckQueued();
    Finish(instance);
  }

  void Finish(LoopbackInstance& instance) {
    client().Request("ping");
    EXPECT_EQ(client().CloseAndWait(), 0) << client().log();
    ASSERT_TRUE(Eventually([&] { return testing_support::GuestProcesses(instance).empty(); }))
        << "something is left in the guest";
  }

  void Check(const std::string& kind, const std::string& tool, const json& arguments,
             const std::string& expected) {
    Judge(kind, client().CallTool(tool, arguments), expected);
  }

  void CheckQueued() {
    std::vector<std::int64_t> ids;
    for (int i = 0; i < kManyCommands; ++i) {
      ids.push_back(client().SendRequest(
          "tools/call",
          {{"name", "run_shell_command"},
           {"arguments", {{"command", {"echo", "alive"}}, {"directory", Path("root").string()}}}}));
    }
    json last;
    for (const std::int64_t id : ids) last = client().WaitForResponse(id).at("result");
    Judge("queued", last, "alive");
  }

  void Judge(const std::string& kind, const json& result, const std::string& expected) {
    const std::string text = TextOf(result);
    const bool well = !result.value("isError", false) && text.find(expected) != std::string::npos &&
                      text.find("\"error\"") == std::string::npos;
    EXPECT_TRUE(IsAllowed({well, text}, allowed_.at(kind)))
        << kind << ", expected: " << allowed_.at(kind) << ", got: " << text;
  }

  LoopbackInstance::Options options_;
  AllowedResults allowed_;
};

TEST_F(GuestCondition, ThreeSessions) {
  options_.sshd_options = {"MaxSessions 3"};
  Run();
}

TEST_F(GuestCondition, NoSftpSubsystem) {
  options_.sshd_options = {"Subsystem other /bin/true"};
  for (auto& [call, allowed] : allowed_) allowed = "openssh-sftp-server";
  Run();
}

TEST_F(GuestCondition, NoGit) {
  UseShell("/bin/sh", ProgramsWithout({"git"}));
  Run();
}

TEST_F(GuestCondition, NoBash) {
  UseShell("/bin/sh", ProgramsWithout({"bash", "rbash"}));
  Run();
}

TEST_F(GuestCondition, ProfileOfEveryShellPrints) {
  // Debian's bash reads .bashrc for what sshd starts: SFTP's first packet is garbled.
  WriteProfiles({".profile", ".bash_profile", ".bashrc", ".zshenv"}, "echo Welcome\n");
  for (auto& [call, allowed] : allowed_) allowed = "ok|login profile prints text";
  Run();
}

TEST_F(GuestCondition, ProfileIsSlow) {
  WriteProfiles({".profile", ".bash_profile"}, "sleep 2\n");
  WriteProfiles({".bashrc", ".zshenv"}, "sleep 0.5\n");
  Run();
}

TEST_F(GuestCondition, ProfileOfEveryShellExits) {
  WriteProfiles({".profile", ".bash_profile", ".bashrc", ".zshenv"}, "exit 1\n");
  for (const char* call : {"list", "read", "write", "glob", "search"}) {
    allowed_[call] = "ok|the login shell that starts it, does not work";
  }
  for (const char* call : {"command", "queued"}) {
    allowed_[call] = "exit status 1|the login shell that starts it, does not work";
  }
  Run();
}

}  // namespace
}  // namespace integration
