// How the program exits, and that only messages reach standard output.

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <sstream>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::ProcessResult;

constexpr std::chrono::seconds kPromptly{10};

class LifeCycle : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("root/a.txt", "text");
    StartInstance({{root, "", true}});
  }

  static std::string Line(int id, const std::string& method, const json& params) {
    return json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() +
           "\n";
  }
  static std::string InitializeLine() {
    return Line(1, "initialize",
                {{"protocolVersion", "2025-06-18"},
                 {"capabilities", json::object()},
                 {"clientInfo", {{"name", "test"}, {"version", "1"}}}}) +
           "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
  }

  /// Every byte of `output` belongs to a line that is one JSON-RPC message.
  static std::vector<json> Messages(const std::string& output) {
    std::vector<json> messages;
    EXPECT_TRUE(output.empty() || output.back() == '\n') << "a line was cut";
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      messages.push_back(json::parse(line));
      EXPECT_EQ(messages.back().at("jsonrpc"), "2.0") << line;
    }
    return messages;
  }

  const std::string root = Path("root").string();
};

TEST_F(LifeCycle, ExitsSilentlyWhenInputIsEmptyOrClosed) {
  for (const char* redirection : {"</dev/null", "<&-"}) {
    testing_support::ChildProcess::Options options = ServerOptions({"serve", "default"});
    options.arguments.insert(options.arguments.begin(),
                             {"sh", "-c", std::string("exec \"$0\" \"$@\" ") + redirection});
    const ProcessResult result = testing_support::RunProcess(options);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.output, "");
  }
}

TEST_F(LifeCycle, ExitsBeforeItIsConnected) {
  Serve();
  EXPECT_EQ(client().CloseAndWait(kPromptly), 0);
  Serve({.initialize = false});
  client().Request("ping");
  client().process().Signal(SIGTERM);
  EXPECT_TRUE(client().process().Wait(kPromptly).has_value());
}

TEST_F(LifeCycle, OnlyMessagesReachStandardOutput) {
  const auto call = [](int id, const std::string& tool, const json& arguments) {
    return Line(id, "tools/call", {{"name", tool}, {"arguments", arguments}});
  };
  const ProcessResult result = RunServer(
      {"serve", "default"}, "garbage\n\n[]\n" + InitializeLine() + Line(2, "ping", json::object()) +
                                Line(3, "tools/list", json::object()) +
                                call(4, "read_file", {{"path", root + "/a.txt"}}) +
                                call(5, "read_file", {{"path", "relative"}}));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  bool pinged = false;
  for (const json& message : Messages(result.output))
    pinged = pinged || message == json{{"jsonrpc", "2.0"}, {"id", 2}, {"result", json::object()}};
  EXPECT_TRUE(pinged) << result.output;
}

TEST_F(LifeCycle, ABannerOfTheGuestDoesNotReachStandardOutput) {
  testing_support::LoopbackInstance::Options options;
  options.name = "noisy";
  options.mounts = {{root, "", true}};
  options.sshd_options = {"Banner " + MakeFile("banner", "WELCOME\n").string()};
  StartInstance(options);
  Serve({.arguments = {"noisy"}});
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  EXPECT_EQ(client().CloseAndWait(kPromptly), 0);
}

TEST_F(LifeCycle, ExitsWhenTheOutputIsClosed) {
  Serve();
  client().process().standard_output().Close();
  client().SendLine(Line(99, "ping", json::object()));
  EXPECT_TRUE(client().process().Wait(kPromptly).has_value());
}

}  // namespace
}  // namespace integration
