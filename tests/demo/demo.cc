// Starts the server and uses it as an agent would.
//
//   demo --server PROGRAM [--instance NAME]
//
// First on a mount, then in a copy of a project that has uncommitted changes. Without --instance it
// makes a throwaway instance on this machine: a Lima instance directory with a local sshd. Exits
// with 0 only if every step succeeds.

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

#include "testing/child_process.h"
#include "testing/loopback_instance.h"
#include "testing/mcp_client.h"
#include "testing/temporary_directory.h"

namespace {

using nlohmann::json;
using testing_support::ChildProcess;
using testing_support::LoopbackInstance;
using testing_support::McpClient;
using testing_support::ProcessResult;
using testing_support::RunProcess;
using testing_support::TemporaryDirectory;
using testing_support::TextOf;

struct Arguments {
  std::string server;
  std::string instance;             ///< empty: a throwaway one
  std::filesystem::path lima_home;  ///< empty: the user's own
};

Arguments ParseArguments(int count, char** words) {
  cxxopts::Options parser("demo", "Uses the server as an agent would.");
  parser.add_options()("server", "the program", cxxopts::value<std::string>())(
      "instance", "an instance", cxxopts::value<std::string>()->default_value(""));
  const auto parsed = parser.parse(count, words);
  return {std::filesystem::absolute(parsed["server"].as<std::string>()),
          parsed["instance"].as<std::string>(),
          {}};
}

/// `limactl-mcp WORDS` in `directory`.
ChildProcess::Options Command(const Arguments& arguments, std::vector<std::string> words,
                              const std::string& directory = "") {
  words.insert(words.begin(), arguments.server);
  ChildProcess::Options options = {.arguments = std::move(words), .working_directory = directory};
  if (!arguments.lima_home.empty()) options.environment["LIMA_HOME"] = arguments.lima_home;
  return options;
}

std::string Indent(const std::string& text) {
  std::string result = "       ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "       ";
  }
  while (result.ends_with(' ') || result.ends_with('\n')) result.pop_back();
  return result;
}

/// Prints each step and whether it succeeded.
class Report {
 public:
  void Step(const std::string& what, bool right, const std::string& seen) {
    std::cout << (right ? "  ok   " : "  FAIL ") << what << '\n' << Indent(seen) << '\n';
    all_right_ = all_right_ && right;
  }
  [[nodiscard]] bool all_right() const { return all_right_; }

 private:
  bool all_right_ = true;
};

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

bool IsError(const json& result) {
  return result.value("isError", false);
}

void ListTools(McpClient& client, Report& report) {
  const json tools = client.Request("tools/list").at("result").at("tools");
  std::string names;
  for (const json& tool : tools) {
    names += (names.empty() ? "" : ", ") + tool.at("name").get<std::string>();
  }
  report.Step("tools found: " + std::to_string(tools.size()), tools.size() >= 6, names);
}

void WorkOnFiles(McpClient& client, Report& report, const std::string& directory) {
  const std::string file = directory + "/hello.txt";
  const std::string content = "Hello from an agent.\nThe answer is 42.\n";

  const json written = client.CallTool("write_file", {{"path", file}, {"content", content}});
  report.Step("write_file " + file, !IsError(written), TextOf(written));

  const json read = client.CallTool("read_file", {{"path", file}});
  report.Step("read_file gives back the same bytes",
              !IsError(read) && read["structuredContent"]["content"] == content,
              IsError(read) ? TextOf(read) : content);

  const json found = client.CallTool("search_file_content",
                                     {{"pattern", "answer is [0-9]+"}, {"path", directory}});
  const std::string lines = IsError(found)
                                ? TextOf(found)
                                : found["structuredContent"]["git_grep_output"].get<std::string>();
  report.Step("search_file_content \"answer is [0-9]+\"", lines.starts_with("hello.txt:2:"), lines);

  const json matched = client.CallTool("glob", {{"pattern", "**/*.txt"}, {"path", directory}});
  report.Step("glob **/*.txt",
              !IsError(matched) && matched["structuredContent"]["matches"] == json::array({file}),
              TextOf(matched));

  const json listed = client.CallTool("list_directory", {{"path", directory}});
  report.Step(
      "list_directory",
      !IsError(listed) && listed["structuredContent"]["entries"].at(0).at("name") == "hello.txt",
      TextOf(listed));
}

void RunCommands(McpClient& client, Report& report, const std::string& directory) {
  const json ran = client.CallTool(
      "run_shell_command", {{"command", {"sh", "-c", "uname -srm; pwd; cat hello.txt; exit 3"}},
                            {"directory", directory}});
  const bool right =
      !IsError(ran) && ran["structuredContent"]["exit_code"] == 3 &&
      ran["structuredContent"]["stdout"].get<std::string>().find("42") != std::string::npos;
  report.Step("run_shell_command in the guest (exit code 3 on purpose)", right,
              IsError(ran) ? TextOf(ran) : ran["structuredContent"].dump(2));
}

void TryToEscape(McpClient& client, Report& report, const std::string& directory) {
  const json outside = client.CallTool("read_file", {{"path", "/etc/passwd"}});
  report.Step("read_file /etc/passwd is refused", IsError(outside), TextOf(outside));

  const json linked =
      client.CallTool("run_shell_command",
                      {{"command", {"ln", "-s", "/etc", "way-out"}}, {"directory", directory}});
  const json followed = client.CallTool("read_file", {{"path", directory + "/way-out/passwd"}});
  report.Step("a symbolic link to /etc is refused", !IsError(linked) && IsError(followed),
              TextOf(followed));
}

void WorkOnAMount(const Arguments& arguments, Report& report) {
  McpClient client(Command(arguments, {"serve", arguments.instance}));
  const json initialized = client.Initialize();
  const std::string instructions = initialized.value("instructions", "");
  report.Step("connected to " + initialized["serverInfo"].value("name", "?") + " " +
                  initialized["serverInfo"].value("version", "?"),
              !instructions.empty(), instructions);
  ListTools(client, report);

  // In a new directory, so that the user's files stay untouched.
  const std::string root = WritableRoot(instructions);
  const json made = client.CallTool(
      "run_shell_command",
      {{"command", {"mktemp", "-d", "limactl-mcp-demo.XXXXXX"}}, {"directory", root}});
  if (IsError(made) || made["structuredContent"]["exit_code"] != 0) {
    report.Step("a directory to work in", false, made.dump(2));
    return;
  }
  std::string name = made["structuredContent"]["stdout"];
  name.erase(name.find('\n'));
  const std::string directory = root + "/" + name;

  WorkOnFiles(client, report, directory);
  RunCommands(client, report, directory);
  TryToEscape(client, report, directory);

  const json removed = client.CallTool(
      "run_shell_command", {{"command", {"rm", "-r", "--", name}}, {"directory", root}});
  report.Step("cleaned up", removed["structuredContent"]["exit_code"] == 0, directory);
  report.Step("the server exits at the end of its input", client.CloseAndWait() == 0,
              "exit code 0");
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

void EditAndCommit(McpClient& client, Report& report, const std::string& project) {
  client.Initialize();
  const json replaced = client.CallTool(
      "replace", {{"path", project + "/main.rs"}, {"old_string", "Helo"}, {"new_string", "Hello"}});
  const json committed = client.CallTool(
      "run_shell_command",
      {{"command", {"git", "commit", "-am", "Greet properly"}}, {"directory", project}});
  const json written =
      client.CallTool("write_file", {{"path", project + "/notes.md"}, {"content", "Greets.\n"}});
  const bool right = !IsError(replaced) && !IsError(written) && !IsError(committed) &&
                     committed["structuredContent"]["exit_code"] == 0;
  report.Step("the agent edits main.rs, commits it, and adds notes.md", right, TextOf(committed));
}

/// `scratch` is a directory of this host, `copy` one that the guest will have.
void WorkInACopy(const Arguments& arguments, const std::filesystem::path& scratch,
                 const std::string& copy, Report& report) {
  const std::string project = scratch / "my-project";
  std::filesystem::create_directory(project);
  const auto in_project = [&](const std::string& script) {
    return RunProcess({.arguments = {"sh", "-ec", script}, .working_directory = project});
  };
  const auto mcp = [&](std::vector<std::string> words) {
    const std::string shown = "limactl mcp " + words.front() + " " + arguments.instance;
    words.insert(words.begin() + 1, arguments.instance);
    ProcessResult result = RunProcess(Command(arguments, std::move(words), project));
    report.Step(shown, result.exit_code == 0, result.error + result.output);
    return result.output;
  };
  const ProcessResult made = in_project(kMakeProject);
  report.Step("your project, with uncommitted changes", made.exit_code == 0,
              made.output + made.error);

  mcp({"copy", "--copy-dir", copy});
  {
    McpClient client(Command(arguments, {"serve", arguments.instance, "--copy", project}));
    EditAndCommit(client, report, project);
  }
  const ProcessResult untouched = in_project("git log --oneline --all; git status --short");
  report.Step("your project is as before", untouched.output.ends_with("First\n M main.rs\n"),
              untouched.output);
  const std::string diff = mcp({"diff"});
  report.Step("it has the agent's changes only",
              diff.find("+    println!(\"Hello\");") != std::string::npos &&
                  diff.find("+// Mine") == std::string::npos,
              "into a pipe it is a patch for git apply");
  mcp({"take"});
  const std::string name = arguments.instance + "/main";
  const ProcessResult branch = in_project("git log --oneline --stat main.." + name + "; git show " +
                                          name + ":main.rs; git status --short");
  report.Step("the branch " + name,
              branch.exit_code == 0 &&
                  branch.output.ends_with("    println!(\"Hello\");\n}\n// Mine, not committed.\n"
                                          " M main.rs\n"),
              branch.output + branch.error);
  mcp({"drop"});
}

// Cleans up when this program exits or is killed, which ends its input.
constexpr const char* kCleanUp = R"(trap '' INT HUP TERM
read -r nothing
kill "$1"
rm -rf -- "$2" "$3" || { sleep 1; rm -rf -- "$2" "$3"; })";

int Demonstrate(Arguments arguments) {
  const TemporaryDirectory directory;
  const std::filesystem::path& scratch = directory.path();
  const std::string copy = "/tmp/" + scratch.filename().string() + "-copy";
  std::unique_ptr<LoopbackInstance> instance;
  std::optional<ChildProcess> clean_up;  // destroyed first: a normal exit cleans up by itself
  if (arguments.instance.empty()) {
    arguments.instance = "agent";
    arguments.lima_home = scratch / "lima";
    const std::filesystem::path project = scratch / "project";
    std::filesystem::create_directory(project);
    LoopbackInstance::Options options;
    options.lima_home = arguments.lima_home;
    options.name = arguments.instance;
    options.mounts = {{project.string(), "", true}};
    instance = std::make_unique<LoopbackInstance>(options);
    clean_up.emplace(ChildProcess::Options{.arguments = {"sh", "-c", kCleanUp, "sh",
                                                         std::to_string(instance->sshd_pid()),
                                                         scratch.string(), copy}});
    std::cout << "A throwaway instance: sshd on 127.0.0.1:" << instance->port() << ", one mount, "
              << project.string() << "\n\n";
  }
  Report report;
  std::cout << "An agent at work on a mount:\n";
  WorkOnAMount(arguments, report);
  std::cout << "\nAn agent at work in a copy of a project with uncommitted changes:\n";
  WorkInACopy(arguments, scratch, copy, report);
  const bool all_right = report.all_right();
  std::cout << (all_right ? "\nEvery step succeeded.\n" : "\nA step failed, see above.\n");
  return all_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Demonstrate(ParseArguments(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "demo: " << error.what() << '\n';
    return 1;
  }
}
