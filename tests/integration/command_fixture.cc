#include "integration/command_fixture.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "testing/eventually.h"

namespace integration {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
using testing_support::Eventually;
using testing_support::LoopbackInstance;

namespace {

constexpr std::chrono::seconds kPatience{60};

}  // namespace

LoopbackInstance& CommandTest::StartGuest(const std::vector<std::string>& sshd_options,
                                          const std::vector<std::string>& serve_options,
                                          const std::string& lima_yaml) {
  LoopbackInstance::Options options;
  options.mounts = {{root, "", true}};
  options.sshd_options = sshd_options;
  options.lima_yaml = lima_yaml;
  LoopbackInstance& instance = StartInstance(std::move(options));
  ServeOptions serve;
  serve.arguments.insert(serve.arguments.end(), serve_options.begin(), serve_options.end());
  Serve(serve);
  return instance;
}

json CommandTest::Arguments(const std::vector<std::string>& command) const {
  return {{"command", command}, {"directory", root}};
}

json CommandTest::Run(const std::vector<std::string>& command) {
  return Call("run_shell_command", Arguments(command));
}

std::int64_t CommandTest::Begin(const std::vector<std::string>& command,
                                const std::string& progress) {
  json parameters = {{"name", "run_shell_command"}, {"arguments", Arguments(command)}};
  if (!progress.empty()) parameters["_meta"] = {{"progressToken", progress}};
  return client().SendRequest("tools/call", parameters);
}

std::int64_t CommandTest::BeginGroup(const std::string& script, const std::string& progress) {
  return Begin({"bash", "-c", "set -m; sh -c \"$0\" & wait", script}, progress);
}

json CommandTest::End(std::int64_t id) {
  return client().WaitForResponse(id, kPatience).at("result");
}

std::string CommandTest::NextProgress(const std::string& token) {
  while (true) {
    const json message = client().NextMessage();
    if (message.value("method", "") != "notifications/progress") continue;
    if (message["params"]["progressToken"] == token) return message["params"].value("message", "");
  }
}

std::string CommandTest::Await(const std::string& name) const {
  const fs::path path = Path("root") / name;
  const auto came = [&path] {
    std::error_code missing;
    return fs::exists(path) && fs::file_size(path, missing) != 0;
  };
  if (!Eventually(came, kPatience)) throw std::runtime_error(name + " never came");
  return ReadFile(path);
}

bool GroupLives(long process_group) {
  const testing_support::ProcessResult listed =
      testing_support::RunProcess({.arguments = {"ps", "-A", "-o", "pgid=", "-o", "stat="}});
  std::istringstream lines(listed.output);
  long group = 0;
  for (std::string state; lines >> group >> state;) {
    if (group == process_group && !state.starts_with('Z')) return true;
  }
  return false;
}

std::chrono::milliseconds TimeUntilGroupEnds(long process_group) {
  const auto begin = Clock::now();
  Eventually([&] { return !GroupLives(process_group); }, kPatience);
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
}

long StatusOf(pid_t pid, const std::string& name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stol(line.substr(name.size() + 1));
  }
  return 0;
}

}  // namespace integration
