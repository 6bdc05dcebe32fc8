#include "suites/runner/world.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "suites/runner/lines.h"
#include "testing/eventually.h"
#include "testing/files.h"

namespace suites {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::ChildProcess;
using testing_support::LoopbackInstance;
using testing_support::McpClient;
using testing_support::ProcessResult;
using testing_support::RunProcess;
using testing_support::WriteFile;
using Lines = std::vector<std::string>;

constexpr auto kTimeout = std::chrono::seconds(60);
constexpr std::string_view kKeys = "keys ";
constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
constexpr const char* kAgents[] = {"claude", "codex", "copilot", "gemini", "opencode"};

void MakeProgram(const fs::path& path, const std::string& script) {
  WriteFile(path, "#!/bin/sh\n" + script);
  fs::permissions(path, fs::perms::owner_all);
}

/// `NAME[:GUEST][:w]`, as the program loopback-instance takes it.
LoopbackInstance::Mount ParseMount(std::string text) {
  LoopbackInstance::Mount mount;
  mount.writable = text.ends_with(":w");
  if (mount.writable) text.resize(text.size() - 2);
  const std::size_t colon = text.find(':');
  mount.location = text.substr(0, colon);
  if (colon != text.npos) mount.mount_point = text.substr(colon + 1);
  return mount;
}

void Append(Lines& lines, std::string_view mark, const Lines& more) {
  for (const std::string& line : more) {
    lines.push_back(std::string(mark.substr(0, mark.size() - (line.empty() ? 1 : 0))) + line);
  }
}

/// Reads what a terminal shows, with "\n" for its "\r\n", until that is enough or all.
std::string ReadUntil(ChildProcess& terminal,
                      const std::function<bool(const std::string&)>& enough) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (!enough(text)) {
    pollfd ready = {.fd = terminal.standard_output().get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(kTimeout).count())) == 0) {
      throw std::runtime_error("the terminal is silent after: " + text);
    }
    const ssize_t count = ::read(ready.fd, buffer.data(), buffer.size());
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    for (std::size_t at = 0; (at = text.find("\r\n", at)) != text.npos;) text.erase(at, 1);
  }
  return text;
}

}  // namespace

World::World(const fs::path& program) {
  const fs::path& root = directory_.path();
  places_ = {// A program that is not installed names the file.
             {"template:agent-sandbox", SANDBOX_TEMPLATE},
             {"$COPY", root / "guest/copy"},
             {"$GUEST_HOME", root / "lima/agent/guest-home"},
             {"$PROJECT", root / "project"},
             {"$HOME", root / "home"},
             {"$LIMA_HOME", root / "lima"},
             {"$TEST", root}};
  for (const char* name : {"project", "home", "guest", "bin"}) fs::create_directory(root / name);
  WriteFile(root / "home/.gitconfig",
            "[user]\nname = Ann\nemail = ann@example.org\n[init]\ndefaultBranch = main\n");
  fs::create_symlink(program, root / "bin/limactl-mcp");
  // Of other commands only a record is made.
  MakeProgram(root / "bin/limactl",
              "[ \"$1\" != mcp ] || { shift; exec limactl-mcp \"$@\"; }\n"
              "echo \"limactl $*\" >>\"" +
                  (root / "limactl.log").string() + "\"\n");
}

Lines World::Run(const Step& step) {
  const std::string& keyword = step.keyword;
  const std::string text = Filled(step.text);
  const fs::path project = Place("$PROJECT");
  if (keyword == "$") return RunCommand(text, project, false);
  if (keyword == "copy$") return RunCommand(text, Place("$COPY"), true);
  if (keyword == "guest$") return RunCommand(text, project, true);
  if (keyword == "terminal $") return RunInTerminal(text, step.expected);
  if (keyword == ">") return CallTool(text, step.expected);
  if (keyword == "wait:") WaitFor(text);
  if (keyword == "serve") Serve(text);
  if (keyword == "stop" && text.empty()) Stop();
  if (keyword == "stop" && !text.empty()) Instance(text)->Stop();
  if (keyword == "instance") StartInstance(text);
  if (keyword == "repository") MakeRepository(text);
  if (keyword == "project:") MakeRepository("project: " + text);
  if (keyword == "agent:") MakeAgents(text);
  if (keyword == "needs") Need(text);
  return {};  // "each" made a test for each value
}

void World::Serve(const std::string& words) {
  Stop();
  serve_ = words;
}

void World::Stop() {
  for (const auto& [results, client] : std::exchange(servers_, {})) {
    const int status = client->CloseAndWait();
    if (status != 0) {
      throw std::runtime_error("the server exited with " + std::to_string(status) + ": " +
                               client->log());
    }
  }
}

void World::StartInstance(const std::string& text) {
  LoopbackInstance::Options options;
  options.lima_home = directory_.path() / "lima";
  Lines words = Words(text);
  options.name = words.at(0);
  for (const std::string& word : Lines(words.begin() + 1, words.end())) {
    constexpr std::string_view kYaml = "yaml=";
    constexpr std::string_view kSshd = "sshd=";
    if (word.starts_with(kYaml)) {
      options.lima_yaml += word.substr(kYaml.size()) + "\n";
    } else if (word.starts_with(kSshd)) {
      options.sshd_options.push_back(word.substr(kSshd.size()));
    } else {
      options.mounts.push_back(ParseMount(word));
      fs::create_directories(options.mounts.back().location);
    }
  }
  if (instances_.empty()) serve_ = options.name;
  std::unique_ptr<LoopbackInstance>& instance = Instance(options.name);
  instance.reset();
  instance = std::make_unique<LoopbackInstance>(std::move(options));
}

std::unique_ptr<LoopbackInstance>& World::Instance(const std::string& name) {
  for (auto& [known, instance] : instances_) {
    if (known == name) return instance;
  }
  return instances_.emplace_back(name, nullptr).second;
}

void World::MakeRepository(const std::string& text) {
  const std::size_t colon = text.find(':');
  const fs::path repository = directory_.path() / text.substr(0, colon);
  for (const std::string& word : Words(text.substr(colon + 1))) {
    const std::size_t equals = std::min(word.find('='), word.size());
    std::string content = equals == word.size() ? word : word.substr(equals + 1);
    for (std::size_t at = 0; (at = content.find("\\n", at)) != content.npos; ++at) {
      content.replace(at, 2, "\n");
    }
    WriteFile(repository / word.substr(0, equals), content + "\n");
  }
  fs::create_directories(repository);
  const ProcessResult made = RunProcess(Shell(
      "git init -q && git add -A && git commit -q --allow-empty -m first", repository, false));
  if (made.exit_code != 0) throw std::runtime_error("git: " + made.error);
}

void World::MakeAgents(const std::string& script) {
  for (const char* name : kAgents) {
    MakeProgram(directory_.path() / "bin" / name,
                "[ \"$1\" != --version ] || { echo 99.0.0; exit 0; }\n"
                "[ \"$1\" != debug ] || { echo '{\"models\": []}'; exit 0; }\n" +
                    script + "\n");
  }
}

void World::Need(const std::string& text) const {
  const std::size_t colon = text.find(": ");
  const ProcessResult result =
      RunProcess(Shell(text.substr(colon + 1), Place("$PROJECT"), false), "", kTimeout);
  if (result.exit_code != 0) throw Skip{"needs " + text.substr(0, colon)};
}

ChildProcess::Options World::Shell(const std::string& command, const fs::path& directory,
                                   bool in_guest) const {
  const fs::path& root = directory_.path();
  Lines words = {"env", "-i", "LANG=C.UTF-8", "TERM=xterm",
                 "PATH=" + (in_guest ? "" : (root / "bin").string() + ":") + kPath};
  const bool is_guest_known = in_guest && !instances_.empty();
  words.push_back("HOME=" + (is_guest_known ? instances_.front().second->directory() / "guest-home"
                                            : fs::path(Place("$HOME")))
                                .string());
  if (!in_guest) words.push_back("LIMA_HOME=" + Place("$LIMA_HOME"));
  words.insert(words.end(), {"sh", "-c", command});
  return {.arguments = std::move(words), .working_directory = directory};
}

Lines World::RunCommand(const std::string& command, const fs::path& directory,
                        bool in_guest) const {
  const ProcessResult result = RunProcess(Shell(command, directory, in_guest), "", kTimeout);
  Lines lines;
  for (const std::string& line : Shown(result.output)) lines.push_back(AsOutput(line));
  Append(lines, "! ", Shown(result.error));
  if (result.exit_code != 0) lines.push_back("exit " + std::to_string(result.exit_code));
  return lines;
}

Lines World::RunInTerminal(const std::string& command, const Lines& expected) const {
  Need("the program script: command -v script");
  ChildProcess::Options options =
      Shell("exec script -qec \"$COMMAND\" /dev/null", Place("$PROJECT"), false);
  options.arguments.insert(options.arguments.begin() + 2, "COMMAND=exec 2>&1; " + command);
  ChildProcess terminal(options);
  Lines lines;
  const auto add = [&](const std::string& output) {
    for (const std::string& line : Shown(output)) lines.push_back(AsOutput(line));
  };
  std::string awaited;  // the last line before the keys
  for (const std::string& line : expected) {
    if (!line.starts_with(kKeys)) {
      awaited = line;
      continue;
    }
    add(ReadUntil(terminal, [&](const std::string& output) {
      return awaited.empty() || std::ranges::any_of(Shown(output), [&](const std::string& one) {
               return Matches(awaited, AsOutput(one));
             });
    }));
    lines.push_back(line);
    const std::string keys = json::parse(line.substr(kKeys.size()));
    if (::write(terminal.standard_input().get(), keys.data(), keys.size()) < 0) {
      throw std::runtime_error("the command does not read");
    }
    awaited.clear();
  }
  add(ReadUntil(terminal, [](const std::string&) { return false; }));
  const int status = terminal.Wait(kTimeout).value_or(0);
  if (status != 0) lines.push_back("exit " + std::to_string(WEXITSTATUS(status)));
  return lines;
}

void World::WaitFor(const std::string& command) const {
  ProcessResult result;
  const auto succeeds = [&] {
    result = RunProcess(Shell(command, Place("$PROJECT"), false), "", kTimeout);
    return result.exit_code == 0;
  };
  if (!testing_support::Eventually(succeeds, kTimeout)) {
    throw std::runtime_error("it never succeeded; its last output: " + result.output +
                             result.error);
  }
}

Lines World::CallTool(const std::string& call, const Lines& expected) {
  constexpr std::string_view kStructured = "<json ";
  const bool is_structured = std::ranges::any_of(
      expected, [&](const auto& line) { return line.starts_with(kStructured); });
  json arguments = json::parse(call);
  const std::string tool = arguments.at("tool");
  arguments.erase("tool");
  const json result = Server(is_structured ? Results::kStructured : Results::kText)
                          .CallTool(tool, arguments, kTimeout);
  Lines lines;
  if (result.value("isError", false)) {
    Append(lines, "<error ", Shown(testing_support::TextOf(result) + "\n"));
  } else if (is_structured) {
    Append(lines, kStructured, Shown(result.at("structuredContent").dump() + "\n"));
  } else {
    Append(lines, "< ", Shown(testing_support::TextOf(result) + "\n"));
  }
  return lines;
}

McpClient& World::Server(Results results) {
  std::unique_ptr<McpClient>& client = servers_[results];
  if (!client) {
    client = std::make_unique<McpClient>(
        Shell("exec limactl-mcp serve " + serve_, Place("$PROJECT"), false));
    // A known agent gets text.
    client->Initialize("2025-06-18", results == Results::kText ? "claude-code" : "test");
  }
  return *client;
}

std::string World::Place(std::string_view name) const {
  return std::ranges::find(places_, name, &std::pair<std::string, std::string>::first)->second;
}

std::string World::Filled(std::string text) const {
  for (const auto& [name, value] : places_) ReplaceWord(text, name, value);
  return text;
}

Lines World::Shown(std::string text) const {
  for (const auto& [name, value] : places_) ReplaceWord(text, value, name);
  return PrintableLines(text);
}

}  // namespace suites
