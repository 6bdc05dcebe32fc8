// SPDX-License-Identifier: Apache-2.0
#include "integration/fixture.h"

#include <iostream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace integration {

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string Skipping(const std::string& reason) {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::cout << "SKIPPED " << test->test_suite_name() << "." << test->name() << ": " << reason
            << std::endl;
  return reason;
}

std::vector<fs::path> Leftovers(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().filename().string().starts_with(".limactl-mcp-")) found.push_back(entry);
  }
  return found;
}

void MakeOld(const std::vector<fs::path>& leftovers) {
  std::error_code gone;
  for (const fs::path& path : leftovers) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(11), gone);
  }
}

fs::path IntegrationTest::Path(const std::string& name) const {
  return name.empty() ? directory_.path() : directory_.path() / name;
}

fs::path IntegrationTest::MakeDirectory(const std::string& name) {
  fs::create_directories(Path(name));
  return Path(name);
}

fs::path IntegrationTest::MakeFile(const std::string& name, const std::string& text) {
  testing_support::WriteFile(Path(name), text);
  return Path(name);
}

fs::path IntegrationTest::MakeProgram(const std::string& name, const std::string& script) {
  fs::path path = MakeFile(name, "#!/bin/sh\n" + script);
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

fs::path IntegrationTest::MakeLink(const std::string& name, const fs::path& target) {
  fs::create_directories(Path(name).parent_path());
  fs::create_symlink(target, Path(name));
  return Path(name);
}

LoopbackInstance& IntegrationTest::StartInstance(LoopbackInstance::Options options) {
  options.lima_home = LimaHome();
  instances_.push_back(std::make_unique<LoopbackInstance>(std::move(options)));
  return *instances_.back();
}

LoopbackInstance& IntegrationTest::StartRoot(const std::vector<std::string>& sshd_options) {
  LoopbackInstance::Options options;
  options.mounts = {{root, "", true}};
  options.sshd_options = sshd_options;
  return StartInstance(std::move(options));
}

ChildProcess::Options IntegrationTest::ServerOptions(
    const std::vector<std::string>& arguments) const {
  ChildProcess::Options options;
  options.arguments = {LIMACTL_MCP_PROGRAM};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  options.environment = {{"LIMA_HOME", LimaHome().string()}, {"HOME", Path().string()}};
  options.working_directory = "/";
  return options;
}

McpClient& IntegrationTest::Serve(const ServeOptions& options) {
  std::vector<std::string> arguments = {"serve"};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  ChildProcess::Options server = ServerOptions(arguments);
  if (!options.working_directory.empty()) server.working_directory = options.working_directory;
  ServeWith(server);
  if (options.initialize) client().Initialize();
  return client();
}

McpClient& IntegrationTest::ServeWith(const ChildProcess::Options& server) {
  return *clients_.emplace_back(std::make_unique<McpClient>(server));
}

LoopbackInstance& IntegrationTest::StartGuest(const std::vector<std::string>& sshd_options,
                                              const std::vector<std::string>& serve_options) {
  StartRoot(sshd_options);
  ServeOptions serve;
  serve.arguments.insert(serve.arguments.end(), serve_options.begin(), serve_options.end());
  Serve(serve);
  return Instance();
}

json IntegrationTest::Call(const std::string& tool, const json& arguments) {
  const json result = client().CallTool(tool, arguments);
  if (result.value("isError", false)) {
    ADD_FAILURE() << tool << " " << arguments.dump() << " failed: " << TextOf(result);
    return json::object();
  }
  const json structured = result.at("structuredContent");
  EXPECT_EQ(json::parse(TextOf(result)), structured) << tool;
  return structured;
}

std::string IntegrationTest::Refusal(const std::string& tool, const json& arguments) {
  const json result = client().CallTool(tool, arguments);
  if (!result.value("isError", false)) {
    ADD_FAILURE() << tool << " " << arguments.dump() << " should have failed: " << result.dump();
    return "";
  }
  EXPECT_FALSE(result.contains("structuredContent")) << result.dump();
  return TextOf(result);
}

std::string IntegrationTest::Read(const std::string& path) {
  return Call("read_file", {{"path", path}}).value("content", "(failed)");
}

void IntegrationTest::Write(const std::string& path, const std::string& text) {
  EXPECT_EQ(Call("write_file", {{"path", path}, {"content", text}}), json::object());
}

std::vector<std::string> IntegrationTest::List(const std::string& path) {
  std::vector<std::string> names;
  for (const json& entry : Call("list_directory", {{"path", path}}).value("entries", json::array()))
    names.push_back(entry.at("name"));
  return names;
}

std::vector<std::string> IntegrationTest::Glob(const json& arguments) {
  return Call("glob", arguments).value("matches", std::vector<std::string>{"(failed)"});
}

std::string IntegrationTest::Search(const json& arguments) {
  return Call("search_file_content", arguments).value("git_grep_output", "(failed)");
}

json IntegrationTest::Arguments(const Command& command) const {
  return {{"command", command}, {"directory", root}};
}

std::string IntegrationTest::NextProgress(const std::string& token) {
  while (true) {
    const json message = client().NextMessage();
    if (message.value("method", "") != "notifications/progress") continue;
    if (message["params"]["progressToken"] == token) return message["params"].value("message", "");
  }
}

std::string IntegrationTest::Await(const std::string& name) const {
  const fs::path path = Path("root") / name;
  const auto came = [&path] {
    std::error_code missing;
    return fs::exists(path) && fs::file_size(path, missing) != 0;
  };
  if (!Eventually(came, 60s)) throw std::runtime_error(name + " never came");
  return ReadFile(path);
}

}  // namespace integration
