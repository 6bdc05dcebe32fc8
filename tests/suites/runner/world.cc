// SPDX-License-Identifier: Apache-2.0
#include "suites/runner/world.h"

#include <algorithm>
#include <stdexcept>

#include "testing/files.h"

namespace suites {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::LoopbackInstance;
using testing_support::McpClient;
using testing_support::RunProcess;

constexpr auto kTimeout = std::chrono::milliseconds(120'000);
constexpr const char* kPath = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
constexpr const char* kHostPath = "PATH=$TEST/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

void Append(Lines& lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

/// "[image/png, 70 bytes]" of a content block of a tool's result, or its text.
std::string TextOf(const json& block) {
  if (block.at("type") == "text") return block.at("text");
  const std::string base64 = block.at("data");
  const std::size_t bytes = (base64.find_last_not_of('=') + 1) * 3 / 4;
  return "[" + block.at("mimeType").get<std::string>() + ", " + std::to_string(bytes) + " bytes]";
}

}  // namespace

World::World() {
  const fs::path& root = directory_.path();
  places_ = {// A program that is not installed names the file.
             {"template:agent-closed", SOURCE "/share/lima/templates/agent-closed.yaml"},
             {"template:agent-sandbox", SOURCE "/share/lima/templates/agent-sandbox.yaml"},
             {"$COPY", root / "guest/copy"},
             {"$GUEST_HOME", root / "lima/agent/guest-home"},
             {"$PROJECT", root / "project"},
             {"$HOME", root / "home"},
             {"$LIMA_HOME", root / "lima"},
             {"$TEST", root},
             {"$TESTING", SOURCE "/tests/testing"},
             {"$META", R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                       R"("io.modelcontextprotocol/clientCapabilities":{}})"}};
  for (const char* name : {"project", "home", "guest", "bin"}) fs::create_directory(root / name);
  testing_support::WriteFile(
      root / "home/.gitconfig",
      "[user]\nname = Ann\nemail = ann@example.org\n[init]\ndefaultBranch = main\n");
  fs::create_symlink(LIMACTL_MCP_PROGRAM, root / "bin/limactl-mcp");
  fs::copy_file(Filled("$TESTING/limactl-stub"), root / "bin/limactl");
}

Lines World::Run(const Step& step) {
  const std::string& keyword = step.keyword;
  const std::string text = Filled(step.text);
  if (keyword == "$") return RunCommand(Shell(text));
  if (keyword == "copy$") return RunCommand(Shell(text, "$COPY", true));
  if (keyword == "guest$") return RunCommand(Shell(text, "$PROJECT", true));
  if (keyword == "terminal $") return RunProgram("terminal", {text});
  if (keyword == ">") return CallTool(text, step.expected);
  if (keyword == ">>") return SendLine(text, step.expected);
  if (keyword == "serve") serve_ = text;
  if (keyword == "serve" || step.text.empty()) return Stop();
  if (keyword == "stop") instances_.at(text)->Stop();
  if (keyword == "wait:") {
    return RunCommand(Shell("until { " + text + "; } >/dev/null 2>&1; do sleep 0.05; done"));
  }
  if (keyword == "agent:") return RunProgram("make-agents", {"../bin", text});
  if (keyword == "project:") return RunProgram("make-repository", Words(". " + text));
  if (keyword == "repository") return RunProgram("make-repository", Words("../" + text));
  if (keyword == "instance") StartInstance(text);
  const std::size_t colon = text.find(": ");
  if (keyword == "needs" && RunProcess(Shell(text.substr(colon + 1))).exit_code != 0) {
    throw Skip{"needs " + text.substr(0, colon)};
  }
  return {};  // "each" made a test for each value
}

Lines World::Stop() {
  const std::unique_ptr<McpClient> server = std::move(server_);
  if (!server) return {};
  const int status = server->CloseAndWait();
  if (status == 0) return Shown(server->unread(), "<< ");
  throw std::runtime_error("the server exited with " + std::to_string(status) + ": " +
                           server->log());
}

void World::StartInstance(const std::string& text) {
  auto options = LoopbackInstance::Parse(Filled("$LIMA_HOME"), Words(text));
  for (const auto& mount : options.mounts) fs::create_directories(mount.location);
  if (instances_.empty()) serve_ = options.name;
  std::unique_ptr<LoopbackInstance>& instance = instances_[options.name];
  instance.reset();
  instance = std::make_unique<LoopbackInstance>(std::move(options));
}

World::Command World::Shell(const std::string& command, const std::string& directory,
                            bool in_guest) const {
  Lines words = {"env", "-i", "LANG=C.UTF-8", "TERM=xterm", "GIT_CONFIG_NOSYSTEM=1"};
  if (in_guest) {
    Append(words, {"HOME=$GUEST_HOME", kPath});
  } else {
    Append(words, {"HOME=$HOME", "LIMA_HOME=$LIMA_HOME", kHostPath});
  }
  for (std::string& word : words) word = Filled(word);
  Append(words, {"sh", "-c", command});
  return {.arguments = std::move(words), .working_directory = Filled(directory)};
}

Lines World::RunCommand(const Command& shell) const {
  const auto result = RunProcess(shell, "", kTimeout);
  Lines lines = Shown(result.output);
  std::ranges::transform(lines, lines.begin(), AsOutput);
  Append(lines, Shown(result.error, "! "));
  if (result.exit_code != 0) lines.push_back("exit " + std::to_string(result.exit_code));
  return lines;
}

Lines World::RunProgram(const std::string& name, const Lines& words) const {
  Command shell = Shell(Filled("exec $TESTING/") + name + " \"$0\" \"$@\"");
  Append(shell.arguments, words);
  return RunCommand(shell);
}

McpClient& World::Server() {
  if (!server_) server_ = std::make_unique<McpClient>(Shell("exec limactl-mcp serve " + serve_));
  return *server_;
}

Lines World::CallTool(const std::string& call, const Lines& expected) {
  const bool is_structured = std::ranges::any_of(
      expected, [](const std::string& line) { return line.starts_with("<json "); });
  json arguments = json::parse(call);
  const std::string tool = arguments.at("tool");
  arguments.erase("tool");
  // A known agent gets text.
  Server().SpeakModern(is_structured ? "test" : "claude-code");
  const json result = Server().CallTool(tool, arguments, kTimeout);
  Lines lines;
  const bool is_error = result.value("isError", false);
  for (const json& block : result.at("content")) {
    if (lines.empty() && result.contains("structuredContent")) {
      lines = Shown(result["structuredContent"].dump() + "\n", "<json ");
    } else {
      Append(lines, Shown(TextOf(block) + "\n", is_error ? "<error " : "< "));
    }
  }
  return lines;
}

Lines World::SendLine(const std::string& line, const Lines& expected) {
  Server().SendLine(line);
  Lines lines;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Append(lines, Shown(Server().NextLine(kTimeout) + "\n", "<< "));
  }
  return lines;
}

std::string World::Filled(std::string text) const {
  for (const auto& [name, value] : places_) ReplaceWord(text, name, value);
  return text;
}

Lines World::Shown(std::string text, const std::string& mark) const {
  for (const auto& [name, value] : places_) ReplaceWord(text, value, name);
  return PrintableLines(text, mark);
}

}  // namespace suites
