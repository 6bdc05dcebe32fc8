// Makes an agent's calls and a user's commands, and shows what comes.
//
//   demo --server PROGRAM [--instance NAME]
//
// First on a mount, then in a copy of a project that has uncommitted changes. Without --instance it
// makes a throwaway instance on this machine: a Lima instance directory with a local sshd. Exits
// with 0 only if every step succeeds.

#include <chrono>
#include <cxxopts.hpp>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "report.h"
#include "testing/child_process.h"
#include "testing/loopback_instance.h"
#include "testing/mcp_client.h"
#include "testing/temporary_directory.h"

namespace demo {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::ChildProcess;
using testing_support::LoopbackInstance;
using testing_support::McpClient;
using testing_support::ProcessResult;
using testing_support::RunProcess;
using testing_support::TemporaryDirectory;
using testing_support::TextOf;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string server;
  std::string instance;  ///< empty: a throwaway one
  fs::path lima_home;    ///< empty: the user's own
};

Arguments ParseArguments(int count, char** words) {
  cxxopts::Options parser("demo", "Uses the server as an agent would.");
  parser.add_options()("server", "the program", cxxopts::value<std::string>())(
      "instance", "an instance", cxxopts::value<std::string>()->default_value(""));
  const auto parsed = parser.parse(count, words);
  return {
      fs::absolute(parsed["server"].as<std::string>()), parsed["instance"].as<std::string>(), {}};
}

/// `limactl-mcp WORDS` in `directory`.
ChildProcess::Options Command(const Arguments& arguments, std::vector<std::string> words,
                              const std::string& directory = "") {
  words.insert(words.begin(), arguments.server);
  ChildProcess::Options options = {.arguments = std::move(words), .working_directory = directory};
  if (!arguments.lima_home.empty()) options.environment["LIMA_HOME"] = arguments.lima_home;
  return options;
}

/// The first directory that the server's instructions call writable.
std::string WritableRoot(const std::string& instructions) {
  const std::string mark = " (writable)";
  const std::size_t end = instructions.find(mark);
  if (end == std::string::npos) {
    throw std::runtime_error(
        "the instance has no writable mount; make one, for example with "
        "limactl start --mount-only \"$PWD:w\" --name agent");
  }
  const std::size_t line = instructions.rfind('\n', end);
  const std::size_t start = instructions.find('/', line == std::string::npos ? 0 : line);
  return instructions.substr(start, end - start);
}

/// An agent that gets its results as text, and reports each call.
class Agent {
 public:
  Agent(const ChildProcess::Options& server, Report& report) : client_(server), report_(report) {
    const auto start = Clock::now();
    instructions_ = client_.Initialize("2025-06-18", "claude-code").value("instructions", "");
    const json tools = client_.Request("tools/list").at("result").at("tools");
    std::string names;
    for (const json& tool : tools) {
      names += (names.empty() ? "" : ", ") + tool.at("name").get<std::string>();
    }
    constexpr std::size_t kTools = 10;
    report_.Add({.who = "agent",
                 .what = "connect",
                 .took = Clock::now() - start,
                 .came = std::to_string(tools.size()) + " tools: " + names,
                 .expected = "instructions, and ten tools",
                 .is_right = !instructions_.empty() && tools.size() == kTools});
  }

  [[nodiscard]] const std::string& instructions() const { return instructions_; }

  /// Calls a tool. Its text must contain `expected`; an empty one stands for success. Returns it.
  std::string Call(const std::string& tool, const json& arguments, const std::string& shown,
                   const std::string& expected = "") {
    return Call(tool, arguments, shown, expected, false);
  }
  void Refused(const std::string& tool, const json& arguments, const std::string& shown,
               const std::string& expected) {
    Call(tool, arguments, shown, expected, true);
  }

  /// Runs a command that is no part of the demo; returns the first line of its output.
  std::string Do(const std::vector<std::string>& command, const std::string& directory) {
    const json result =
        client_.CallTool("run_shell_command", {{"command", command}, {"directory", directory}});
    const std::string text = TextOf(result);
    if (result.value("isError", false) || text.find("[exit status") != text.npos) {
      throw std::runtime_error(command[0] + " failed: " + text);
    }
    return text.substr(0, text.find('\n'));
  }

  void Leave() {
    const int code = client_.CloseAndWait();
    if (code != 0) throw std::runtime_error("the server exited with " + std::to_string(code));
  }

 private:
  std::string Call(const std::string& tool, const json& arguments, const std::string& shown,
                   const std::string& expected, bool is_refusal) {
    const auto start = Clock::now();
    const json result = client_.CallTool(tool, arguments);
    std::string text = TextOf(result);
    report_.Add({.who = "agent",
                 .what = tool + " " + shown,
                 .took = Clock::now() - start,
                 .is_refusal = is_refusal,
                 .came = text,
                 .expected = expected.empty()
                                 ? "success"
                                 : (is_refusal ? "a refusal with: " : "a result with: ") + expected,
                 .is_right = result.value("isError", false) == is_refusal &&
                             text.find(expected) != text.npos});
    return text;
  }

  McpClient client_;
  Report& report_;
  std::string instructions_;
};

void WorkOnAMount(const Arguments& arguments, Report& report) {
  Agent agent(Command(arguments, {"serve", arguments.instance}), report);
  // In a new directory, so that the user's files stay untouched.
  const std::string root = WritableRoot(agent.instructions());
  const std::string directory =
      root + "/" + agent.Do({"mktemp", "-d", "limactl-mcp-demo.XXXXXX"}, root);
  report.Shorten(directory, "my-project");
  const std::string file = directory + "/hello.txt";

  agent.Call("write_file",
             {{"path", file}, {"content", "Hello from an agent.\nThe answer is 42.\n"}}, file);
  agent.Call("read_file", {{"path", file}}, file, "Hello from an agent.\nThe answer is 42.\n");
  agent.Call("search_file_content", {{"pattern", "answer is [0-9]+"}, {"path", directory}},
             "'answer is [0-9]+'", "hello.txt:2:The answer is 42.");
  agent.Call("glob", {{"pattern", "**/*.txt"}, {"path", directory}}, "'**/*.txt'", file);
  agent.Call("list_directory", {{"path", directory}}, directory, "hello.txt");
  agent.Call(
      "run_shell_command",
      {{"command", {"sh", "-c", "uname -sr; wc -l hello.txt; exit 3"}}, {"directory", directory}},
      "'uname -sr; wc -l hello.txt; exit 3'", "2 hello.txt");
  agent.Refused("read_file", {{"path", "/etc/passwd"}}, "/etc/passwd", "outside the directories");
  agent.Call("run_shell_command",
             {{"command", {"ln", "-s", "/etc", "way-out"}}, {"directory", directory}},
             "ln -s /etc way-out");
  agent.Refused("read_file", {{"path", directory + "/way-out/passwd"}},
                directory + "/way-out/passwd", "outside");
  agent.Refused("write_file",
                {{"path", directory + "/.git/hooks/post-checkout"}, {"content", "#!/bin/sh\n"}},
                directory + "/.git/hooks/post-checkout", ".git");
  agent.Do({"rm", "-r", "--", directory.substr(root.size() + 1)}, root);
  agent.Leave();
}

/// A commit, an uncommitted change, and a file that git ignores.
constexpr const char* kMakeProject = R"(
git init -q -b main .
echo .env > .gitignore
printf '%s\n' 'fn main() {' '    println!("Helo");' '}' > main.rs
git add -A
git -c user.name=You -c user.email=you@example.org -c commit.gpgSign=false commit -qm 'First'
echo '// Mine, not committed.' >> main.rs
echo KEY=secret > .env
git status --short --ignored)";

/// `scratch` is a directory of this host, `copy` one that the guest will have.
void WorkInACopy(const Arguments& arguments, const fs::path& scratch, const std::string& copy,
                 Report& report) {
  const std::string project = scratch / "my-project";
  fs::create_directory(project);
  const auto add = [&](const std::string& what, const ChildProcess::Options& command,
                       const std::string& expected) {
    const auto start = Clock::now();
    const ProcessResult result = RunProcess(command);
    const std::string came = result.error + result.output;
    report.Add({.who = "you",
                .what = what,
                .took = Clock::now() - start,
                .came = came,
                .expected = "exit code 0, and: " + expected,
                .is_right = result.exit_code == 0 && came.find(expected) != came.npos});
    return came;
  };
  const auto in_project = [&](const std::string& shown, const std::string& script,
                              const std::string& expected) {
    return add(shown, {.arguments = {"sh", "-ec", script}, .working_directory = project}, expected);
  };
  const auto mcp = [&](std::vector<std::string> words, const std::string& expected) {
    const std::string shown = "limactl mcp " + words.front() + " " + arguments.instance;
    words.insert(words.begin() + 1, arguments.instance);
    return add(shown, Command(arguments, std::move(words), project), expected);
  };
  const std::string status = "git status --short --ignored";
  in_project(status, kMakeProject, " M main.rs\n!! .env\n");
  mcp({"copy", "--copy-dir", copy}, "Copied to ");
  {
    Agent agent(Command(arguments, {"serve", arguments.instance, "--copy", project}), report);
    const std::string source = project + "/main.rs";
    agent.Refused("read_file", {{"path", project + "/.env"}}, project + "/.env", "does not exist");
    agent.Call("replace", {{"path", source}, {"old_string", "Helo"}, {"new_string", "Hello"}},
               source);
    agent.Call("run_shell_command",
               {{"command", {"git", "commit", "-am", "Greet properly"}}, {"directory", project}},
               "git commit -am 'Greet properly'", "1 file changed");
    agent.Call("write_file", {{"path", project + "/notes.md"}, {"content", "Greets.\n"}},
               project + "/notes.md");
    agent.Leave();
  }
  report.Say("");
  report.Say("Your project is as before. What the agent did comes when you take it:");
  in_project("git log --oneline --all; git status --short",
             "git log --oneline --all; git status --short", " First\n M main.rs\n");
  const std::string diff = mcp({"diff"}, "+    println!(\"Hello\");");
  if (diff.find("+// Mine") != diff.npos)
    throw std::runtime_error("the diff has your own change, too");
  mcp({"take"}, "Branch " + arguments.instance + "/main: 2 commits, 2 files changed.");
  const std::string branch = arguments.instance + "/main";
  in_project("git log --format=%s main.." + branch, "git log --format=%s main.." + branch,
             "Uncommitted work");
  in_project("git show " + branch + ":main.rs; git status --short",
             "git show " + branch + ":main.rs; git status --short",
             "    println!(\"Hello\");\n}\n// Mine, not committed.\n M main.rs\n");
  mcp({"drop"}, "Dropped.");
}

// Cleans up when this program exits or is killed, which ends its input.
constexpr const char* kCleanUp = R"(trap '' INT HUP TERM
read -r nothing
kill "$1"
rm -rf -- "$2" "$3" || { sleep 1; rm -rf -- "$2" "$3"; })";

int Demonstrate(Arguments arguments) {
  const TemporaryDirectory directory;
  const fs::path& scratch = directory.path();
  const std::string copy = "/tmp/" + scratch.filename().string() + "-copy";
  std::unique_ptr<LoopbackInstance> instance;
  std::optional<ChildProcess> clean_up;  // destroyed first: a normal exit cleans up by itself
  if (arguments.instance.empty()) {
    arguments.instance = "agent";
    arguments.lima_home = scratch / "lima";
    const fs::path project = scratch / "mounted";
    fs::create_directory(project);
    LoopbackInstance::Options options;
    options.lima_home = arguments.lima_home;
    options.name = arguments.instance;
    options.mounts = {{project.string(), "", true}};
    instance = std::make_unique<LoopbackInstance>(options);
    clean_up.emplace(ChildProcess::Options{.arguments = {"sh", "-c", kCleanUp, "sh",
                                                         std::to_string(instance->sshd_pid()),
                                                         scratch.string(), copy}});
  }
  Report report;
  report.Shorten(scratch.string() + "/", "");
  report.Say(
      "limactl-mcp gives an AI agent files, search and commands in a virtual machine, and keeps it "
      "from the "
      "rest of your host. This demo makes the calls of an agent and the commands of its user. " +
      (instance ? "No VM is needed: the instance is a throwaway one, and sshd on 127.0.0.1 plays "
                  "its guest, so "
                  "that commands run on this machine. With Lima they run in the VM."
                : "It works in the Lima instance " + arguments.instance +
                      ", and removes what it makes."));
  report.Say(
      "1. On a mount. The agent works in the directories that the instance mounts, and nowhere "
      "else:");
  WorkOnAMount(arguments, report);
  report.Say("");
  report.Say(
      "2. In a copy. The agent gets your project with your uncommitted changes, but not what git "
      "ignores:");
  WorkInACopy(arguments, scratch, copy, report);
  std::cout
      << (report.all_right()
              ? "\nEverything worked. Next: ./dev test, or with Lima: limactl mcp run claude\n"
                "(README.md, \"Start your agent in a virtual machine\")\n"
              : "\nA step FAILED, see above: please report it with its lines.\n");
  return report.all_right() ? 0 : 1;
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  try {
    return demo::Demonstrate(demo::ParseArguments(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "demo: " << error.what() << '\n';
    return 1;
  }
}
