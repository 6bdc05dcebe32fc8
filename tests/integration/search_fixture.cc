#include "integration/search_fixture.h"

#include <algorithm>
#include <cstdlib>

namespace integration {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::LoopbackInstance;
using testing_support::McpClient;

namespace {

constexpr const char* kSystemPath = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin";

std::string FindProgram(const std::string& name) {
  for (const char* directory : {"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"}) {
    if (fs::exists(fs::path(directory) / name)) return fs::path(directory) / name;
  }
  throw std::runtime_error("there is no " + name + " on this machine");
}

}  // namespace

std::string SearchGuests::UsualPath() {
  const char* directory = std::getenv("GUEST_GIT");
  return directory == nullptr ? kSystemPath : std::string(directory) + ":" + kSystemPath;
}

std::string SearchGuests::PathWithOnly(const std::string& name,
                                       const std::vector<std::string>& programs) {
  const fs::path directory = MakeDirectory(name);
  for (const std::string& program : programs) {
    fs::create_symlink(FindProgram(program), directory / program);
  }
  return directory;
}

McpClient& SearchGuests::StartGuest(const std::string& name, const std::string& path) {
  LoopbackInstance::Options options;
  options.name = name;
  options.mounts = {{root, "", true}};
  // sshd uses only one such line: this replaces the instance's own.
  const fs::path home = MakeDirectory("home-" + name);
  options.sshd_options = {"SetEnv HOME=" + home.string() + " PATH=" + path};
  StartInstance(std::move(options));
  return Serve({.arguments = {name}});
}

std::string SearchGuests::Search(McpClient& client, json arguments) {
  if (!arguments.contains("path")) arguments["path"] = root;
  const json result = client.CallTool("search_file_content", arguments);
  if (result.value("isError", false)) return "error: " + testing_support::TextOf(result);
  return result.at("structuredContent").at("git_grep_output");
}

std::vector<std::string> SearchGuests::Find(McpClient& client, json arguments) {
  if (!arguments.contains("path")) arguments["path"] = root;
  const json result = client.CallTool("glob", arguments);
  if (result.value("isError", false)) return {"error: " + testing_support::TextOf(result)};
  std::vector<std::string> matches = result.at("structuredContent").at("matches");
  for (std::string& match : matches) {
    EXPECT_EQ(match.substr(0, root.size() + 1), root + "/");
    match.erase(0, std::min(match.size(), root.size() + 1));
  }
  std::sort(matches.begin(), matches.end());
  return matches;
}

void SearchGuests::RunGit(const std::string& directory, std::vector<std::string> arguments) {
  std::vector<std::string> command = {"git", "-c",     "user.name=t", "-c", "user.email=t@t",
                                      "-C",  directory};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const testing_support::ProcessResult result = testing_support::RunProcess(
      {.arguments = command,
       .environment = {{"HOME", Path().string()}, {"GIT_CONFIG_NOSYSTEM", "1"}}});
  ASSERT_EQ(result.exit_code, 0) << result.error;
}

}  // namespace integration
