// A guest that cannot be reached at first, is started, or comes back changed.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <optional>

#include "integration/fixture.h"
#include "testing/eventually.h"
#include "testing/lying_sshd.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using support::FileDescriptor;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::Eventually;
using testing_support::LoopbackInstance;
using testing_support::LyingSshd;
using testing_support::McpClient;
using testing_support::TextOf;

/// Longer than a call may take at worst.
constexpr std::chrono::seconds kPatience{100};
/// What needs no guest is answered within this.
constexpr std::chrono::seconds kPromptly{10};

/// Until the client leaves.
void StaySilent(int socket, std::atomic<int>& accepted) {
  ++accepted;
  for (char byte = 0; ::recv(socket, &byte, 1, 0) > 0;) {
  }
}

class Healing : public IntegrationTest {
 protected:
  Healing() { MakeFile("root/a.txt", "text"); }

  LoopbackInstance& StartDefault(const std::vector<std::string>& sshd_options = {}) {
    LoopbackInstance::Options options;
    options.mounts = {{root, "", true}};
    options.sshd_options = sshd_options;
    return StartInstance(std::move(options));
  }

  static json ReadRequest(const std::string& path) {
    return {{"name", "read_file"},
            {"arguments", {{"path", path}}},
            {"_meta", {{"progressToken", "token"}}}};
  }
  static std::string TextOfResponse(const json& response) { return TextOf(response.at("result")); }

  static void ExpectAnsweredAtOnce(McpClient& server) {
    EXPECT_EQ(server.Request("ping", json::object(), kPromptly).at("result"), json::object());
    const json list = server.Request("tools/list", json::object(), kPromptly);
    EXPECT_FALSE(list.at("result").at("tools").empty());
  }

  const std::string root = Path("root").string();
  const std::string file = root + "/a.txt";
};

TEST_F(Healing, DroppedConnectionsAreRetried) {
  const LoopbackInstance& instance = StartDefault();
  constexpr int kDropped = 4;
  std::atomic<int> dropped = 0;
  const LyingSshd sshd([&](int) {
    if (++dropped == kDropped)
      instance.WritePort(instance.port());  // as if Lima had written ssh.config
  });
  Instance().WritePort(sshd.port());
  Serve();
  EXPECT_EQ(Read(file), "text");
  EXPECT_EQ(dropped, kDropped);
}

TEST_F(Healing, AnSshdWithTooManyUnfinishedLoginsIsRetried) {
  const LoopbackInstance& instance = StartDefault({"MaxStartups 1"});
  FileDescriptor unfinished(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(instance.port());
  ASSERT_EQ(::fcntl(unfinished.get(), F_SETFD, FD_CLOEXEC), 0);
  ASSERT_EQ(
      ::connect(unfinished.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  std::array<char, 4> banner{};
  ASSERT_GT(::read(unfinished.get(), banner.data(), banner.size()), 0);
  Serve();
  const auto call = client().SendRequest("tools/call", ReadRequest(file));
  EXPECT_TRUE(Eventually(
      [&] {
        const std::string log = ReadFile(instance.directory() / "sshd.log");
        return log.find("drop connection") != std::string::npos ||
               log.find("MaxStartups") != std::string::npos;
      },
      kPatience));
  unfinished.Close();
  EXPECT_THAT(TextOfResponse(client().WaitForResponse(call, kPatience)), HasSubstr("text"));
}

TEST_F(Healing, ASilentGuestDelaysNothingElse) {
  const LoopbackInstance& instance = StartDefault();
  std::atomic<int> accepted = 0;
  std::optional<LyingSshd> sshd([&](int socket) { StaySilent(socket, accepted); });
  Instance().WritePort(sshd->port());
  Serve();
  const auto call = client().SendRequest("tools/call", ReadRequest(file));
  ASSERT_TRUE(Eventually([&] { return accepted > 0; }, kPatience));
  ExpectAnsweredAtOnce(client());

  // A cancelled call returns at once; the other one gets its guest.
  const auto cancelled = client().SendRequest("tools/call", ReadRequest(file));
  client().SendNotification("notifications/cancelled", {{"requestId", cancelled}});
  ExpectAnsweredAtOnce(client());
  instance.WritePort(instance.port());
  sshd.reset();
  EXPECT_THAT(TextOfResponse(client().WaitForResponse(call, kPatience)), HasSubstr("text"));
}

TEST_F(Healing, TheProgramExitsWhileItConnects) {
  StartDefault();
  std::atomic<int> accepted = 0;
  const LyingSshd sshd([&](int socket) { StaySilent(socket, accepted); });
  Instance().WritePort(sshd.port());
  Serve();
  client().SendRequest("tools/call", ReadRequest(file));
  ASSERT_TRUE(Eventually([&] { return accepted > 0; }, kPatience));
  EXPECT_EQ(client().CloseAndWait(kPromptly), 0);
}

TEST_F(Healing, ADeletedInstanceIsNamedAndWorksOnceItIsBack) {
  LoopbackInstance& instance = StartDefault();
  Serve();
  EXPECT_EQ(Read(file), "text");
  instance.Stop();
  fs::rename(instance.directory(), Path("deleted"));
  EXPECT_THAT(ReadRefusal(file),
              AllOf(HasSubstr("no Lima instance \"default\""),
                    HasSubstr("limactl start --name default")));
  ExpectAnsweredAtOnce(client());
  fs::rename(Path("deleted"), instance.directory());
  instance.Start();
  EXPECT_EQ(Read(file), "text");
}

TEST_F(Healing, ARootThatBecameALinkIsNotFollowedAfterAReconnect) {
  MakeFile("root/project/a.txt", "of the project");
  MakeFile("root/private/a.txt", "private");
  LoopbackInstance& instance = StartDefault();
  const std::string project = root + "/project";
  Serve({.arguments = {"default", "--root", project}});
  EXPECT_EQ(Read(project + "/a.txt"), "of the project");

  fs::rename(project, Path("root/moved"));
  MakeLink("root/project", Path("root/private"));
  instance.Stop();
  instance.Start();
  EXPECT_THAT(ReadRefusal(project + "/a.txt"),
              AllOf(HasSubstr(project), Not(HasSubstr("private\n"))));
  EXPECT_THAT(WriteRefusal(project + "/new.txt"), HasSubstr(project));
  EXPECT_FALSE(fs::exists(Path("root/private/new.txt")));

  fs::remove(Path("root/project"));
  fs::rename(Path("root/moved"), project);
  EXPECT_EQ(Read(project + "/a.txt"), "of the project");
}

TEST_F(Healing, AnAllowedPathThatBecameALinkIsNotFollowedAfterAReconnect) {
  const std::string extra = Path("late/extra").string();
  LoopbackInstance& instance = StartDefault();
  Serve({.arguments = {"default", "--allow-path", extra + ":w"}});
  EXPECT_EQ(Read(file), "text") << "connected while there is nothing to be pinned";
  MakeFile("late/extra/a.txt", "of the directory");
  EXPECT_EQ(Read(extra + "/a.txt"), "of the directory");

  MakeFile("private/a.txt", "private");
  fs::rename(extra, Path("late/moved"));
  MakeLink("late/extra", Path("private"));
  instance.Stop();
  instance.Start();
  EXPECT_THAT(ReadRefusal(extra + "/a.txt"), HasSubstr("outside the directories"));
  EXPECT_THAT(WriteRefusal(extra + "/new.txt"), HasSubstr("outside the directories"));
  EXPECT_FALSE(fs::exists(Path("private/new.txt")));
}

/// `--start`, with a script in limactl's place.
class StartingInstance : public Healing {
 protected:
  /// Serves the stopped instance; returns the server.
  McpClient& ServeStopped(const std::string& script) {
    instance_ = &StartDefault();
    instance_->Stop();
    MakeDirectory("bin");
    if (!script.empty()) {
      MakeProgram("bin/limactl", "PATH=/usr/bin:/bin\ncd " + Path().string() + "\n" + script);
    }
    auto options = ServerOptions({"serve", "default", "--start"});
    options.environment["PATH"] = Path("bin").string();
    server_ = std::make_unique<McpClient>(options);
    server_->Initialize();
    return *server_;
  }

  [[nodiscard]] bool Exists(const std::string& name) const { return fs::exists(Path(name)); }

  LoopbackInstance* instance_ = nullptr;
  std::unique_ptr<McpClient> server_;
};

/// Records each start, and exits with 0 once the test has started the instance.
constexpr const char* kStartsWhenTold =
    "echo \"$@\" >> asked\necho words of limactl\n"
    "while [ ! -e up ]; do sleep 0.02; done\necho done > ended\n";

TEST_F(StartingInstance, IsStartedOnceForAllCallsWithProgress) {
  McpClient& server = ServeStopped(kStartsWhenTold);
  const auto first = server.SendRequest("tools/call", ReadRequest(file));
  const auto second = server.SendRequest("tools/call", ReadRequest(file));
  json message = server.NextMessage(kPatience);
  ASSERT_EQ(message.value("method", ""), "notifications/progress") << message.dump();
  while (message.at("params").at("message").get<std::string>().find("is being started") ==
         std::string::npos) {
    message = server.NextMessage(kPatience);
  }
  EXPECT_THAT(
      message.at("params").at("message").get<std::string>(),
      AllOf(HasSubstr("\"default\""), HasSubstr("`limactl start default`"), HasSubstr("s)")));
  ExpectAnsweredAtOnce(server);
  instance_->Start();
  MakeFile("up", "");
  EXPECT_THAT(TextOfResponse(server.WaitForResponse(first, kPatience)), HasSubstr("text"));
  EXPECT_THAT(TextOfResponse(server.WaitForResponse(second, kPatience)), HasSubstr("text"));
  EXPECT_EQ(ReadFile(Path("asked")), "start --tty=false default\n");
  EXPECT_EQ(server.CloseAndWait(kPromptly), 0);
}

TEST_F(StartingInstance, FailureQuotesLimactlAndTheNextCallRetries) {
  McpClient& server = ServeStopped(
      "echo asked >> asked; echo 'level=fatal msg=\"no disk\"' >&2\n"
      "exit 1\n");
  const auto failed = server.CallTool("read_file", {{"path", file}}, kPatience);
  EXPECT_TRUE(failed.value("isError", false));
  EXPECT_THAT(TextOf(failed), AllOf(HasSubstr("`limactl start default` failed (exit status 1)"),
                                    HasSubstr("no disk")));
  MakeFile("asked", "");
  EXPECT_THAT(TextOf(server.CallTool("read_file", {{"path", file}}, kPatience)),
              HasSubstr("no disk"));
  EXPECT_EQ(ReadFile(Path("asked")), "asked\n");
}

TEST_F(StartingInstance, StartGoesOnAfterACancelAndAfterTheProgramExits) {
  McpClient& server = ServeStopped(kStartsWhenTold);
  const auto call = server.SendRequest("tools/call", ReadRequest(file));
  ASSERT_TRUE(Eventually([&] { return Exists("asked"); }, kPatience));
  server.SendNotification("notifications/cancelled", {{"requestId", call}});
  ExpectAnsweredAtOnce(server);
  EXPECT_EQ(server.CloseAndWait(kPromptly), 0);
  EXPECT_FALSE(Exists("ended"));
  MakeFile("up", "");
  EXPECT_TRUE(Eventually([&] { return Exists("ended"); }, kPatience)) << "the start was killed";
}

}  // namespace
}  // namespace integration
