#include "bench/place.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "testing/mcp_client.h"

namespace bench {
namespace {

using nlohmann::json;
using testing_support::LoopbackInstance;
using testing_support::McpClient;
using testing_support::TemporaryDirectory;

std::filesystem::path LimaHome() {
  if (const char* home = std::getenv("LIMA_HOME")) return home;
  const char* home = std::getenv("HOME");
  if (home == nullptr) throw std::runtime_error("neither LIMA_HOME nor HOME is set");
  return std::filesystem::path(home) / ".lima";
}

std::string WritableRoot(const std::string& instructions) {
  const std::size_t end = instructions.find(" (writable)");
  if (end == std::string::npos) throw std::runtime_error("the instance has no writable mount");
  const std::size_t line = instructions.rfind('\n', end);
  const std::size_t start = instructions.find('/', line == std::string::npos ? 0 : line);
  return instructions.substr(start, end - start);
}

}  // namespace

Place PreparePlace(const std::string& server, const std::string& instance) {
  Place place;
  place.temporary = std::make_unique<TemporaryDirectory>();
  std::filesystem::path lima_home;
  if (instance.empty()) {
    lima_home = place.temporary->path() / "lima";
    const std::filesystem::path project = place.temporary->path() / "project";
    std::filesystem::create_directory(project);
    LoopbackInstance::Options options;
    options.lima_home = lima_home;
    options.mounts = {{project.string(), "", true}};
    place.loopback = std::make_unique<LoopbackInstance>(options);
    place.instance = "default";
  } else {
    lima_home = LimaHome();
    place.instance = instance;
  }
  place.server.arguments = {server, "serve", place.instance};
  place.server.environment["LIMA_HOME"] = lima_home.string();
  place.ssh_config = (lima_home / place.instance / "ssh.config").string();
  place.host = "lima-" + place.instance;
  std::replace_if(
      place.host.begin(), place.host.end(), [](char c) { return c == '.' || c == '_'; }, '-');

  if (place.loopback) {
    // Nobody else's, and as deep as a user's project.
    place.directory = (place.temporary->path() / "project").string();
    return place;
  }
  McpClient client(place.server);
  const std::string root = WritableRoot(client.Initialize().value("instructions", ""));
  const json made = client.CallTool(
      "run_shell_command",
      {{"command", {"mktemp", "-d", "limactl-mcp-bench.XXXXXX"}}, {"directory", root}});
  std::string name = made.at("structuredContent").value("stdout", "");
  name.erase(name.find('\n'));
  place.directory = root + "/" + name;
  return place;
}

void Prepare(const Place& place, const std::string& script) {
  const auto done = testing_support::RunProcess(
      {.arguments = {"sh", "-c", script}, .working_directory = place.directory}, "",
      std::chrono::minutes(10));
  if (done.exit_code != 0) throw std::runtime_error("preparing failed: " + done.error);
}

void CleanUp(const Place& place) {
  McpClient client(place.server);
  client.Initialize();
  client.CallTool("run_shell_command",
                  {{"command", {"rm", "-rf", "--", place.directory}}, {"directory", "/"}},
                  std::chrono::minutes(5));
}

}  // namespace bench
