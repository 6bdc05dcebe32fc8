#include "integration/fixture.h"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "mcp/schema.h"

namespace integration {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::ChildProcess;
using testing_support::LoopbackInstance;
using testing_support::McpClient;
using testing_support::ProcessResult;
using testing_support::TextOf;

std::string ServerProgram() {
  return LIMACTL_MCP_PROGRAM;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool Installed(const std::string& program) {
  return testing_support::RunProcess({.arguments = {"sh", "-c", "command -v " + program}})
             .exit_code == 0;
}

std::string Skipping(const std::string& reason) {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::cout << "SKIPPED " << test->test_suite_name() << "." << test->name() << ": " << reason
            << std::endl;
  return reason;
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

fs::path IntegrationTest::ProgramsWithout(const std::vector<std::string>& missing) {
  fs::path programs = MakeDirectory("programs");
  for (const char* directory : {"/usr/local/bin", "/usr/bin", "/bin"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(directory, none)) {
      const std::string name = entry.path().filename();
      const bool left_out = std::find(missing.begin(), missing.end(), name) != missing.end();
      if (!left_out && !fs::exists(fs::symlink_status(programs / name))) {
        fs::create_symlink(entry.path(), programs / name);
      }
    }
  }
  return programs;
}

void IntegrationTest::WriteProfiles(const std::vector<std::string>& names,
                                    const std::string& text) {
  for (const std::string& name : names) MakeFile("lima/default/guest-home/" + name, text);
}

LoopbackInstance& IntegrationTest::StartInstance(LoopbackInstance::Options options) {
  options.lima_home = LimaHome();
  instances_.push_back(std::make_unique<LoopbackInstance>(std::move(options)));
  return *instances_.back();
}

LoopbackInstance& IntegrationTest::StartInstance(const Mounts& mounts) {
  LoopbackInstance::Options options;
  options.mounts = mounts;
  return StartInstance(std::move(options));
}

ChildProcess::Options IntegrationTest::ServerOptions(
    const std::vector<std::string>& arguments) const {
  ChildProcess::Options options;
  options.arguments = {ServerProgram()};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  options.environment = {{"LIMA_HOME", LimaHome().string()}, {"HOME", Path().string()}};
  options.working_directory = "/";
  return options;
}

ProcessResult IntegrationTest::RunServer(const std::vector<std::string>& arguments,
                                         const std::string& input) const {
  return testing_support::RunProcess(ServerOptions(arguments), input);
}

McpClient& IntegrationTest::Serve(const ServeOptions& options) {
  std::vector<std::string> arguments = {"serve"};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  ChildProcess::Options server = ServerOptions(arguments);
  if (!options.working_directory.empty()) server.working_directory = options.working_directory;
  clients_.push_back(std::make_unique<McpClient>(server));
  if (options.initialize) client().Initialize();
  return client();
}

void IntegrationTest::Mount(const Mounts& mounts, const std::vector<std::string>& serve_options) {
  StartInstance(mounts);
  ServeOptions options;
  options.arguments.insert(options.arguments.end(), serve_options.begin(), serve_options.end());
  Serve(options);
}

json Contract() {
  return json::parse(ReadFile(LIMACTL_MCP_CONTRACT));
}

json IntegrationTest::Call(const std::string& tool, const json& arguments) {
  const json result = client().CallTool(tool, arguments);
  if (result.value("isError", false)) {
    ADD_FAILURE() << tool << " " << arguments.dump() << " failed: " << TextOf(result);
    return json::object();
  }
  const json structured = result.at("structuredContent");
  const json contract = Contract();
  if (contract.contains(tool)) {
    EXPECT_EQ(mcp::FindSchemaError(contract.at(tool).at("outputSchema"), structured), std::nullopt)
        << tool << ": " << structured.dump();
  }
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

std::string IntegrationTest::ReadRefusal(const std::string& path) {
  return Refusal("read_file", {{"path", path}});
}

std::string IntegrationTest::WriteRefusal(const std::string& path) {
  return Refusal("write_file", {{"path", path}, {"content", "written by the agent"}});
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

}  // namespace integration
