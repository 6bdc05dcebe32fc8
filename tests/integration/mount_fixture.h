#pragma once

#include <string>

#include "integration/fixture.h"

/// Projects on a writable mount of the instance "agent", with scripts in place of the guest.
namespace integration {

class MountTest : public IntegrationTest {
 protected:
  MountTest() {
    MakeDirectory("projects");
    MakeDirectory("home");
    MakeFile("lima/agent/lima.yaml",
             "mounts: [{location: \"" + Path("projects").string() + "\", writable: true}]\n");
    // Records that something was run.
    MakeProgram("trap", "echo \"$0 $*\" >> " + Path("ran").string() + "\n");
    // What git makes repositories of. Its own has a dozen more samples, which each would copy.
    MakeProgram("template/hooks/pre-push.sample");
    MakeFile("template/info/exclude", "# Excluded\n");
  }

  /// Runs sh in the project, with a fixed identity. `$trap` must not be run.
  void Script(const std::string& script) {
    ChildProcess::Options options;
    options.arguments = {"sh", "-euc", script};
    options.environment = Environment();
    options.environment["trap"] = Path("trap").string();
    options.environment["GIT_TEMPLATE_DIR"] = Path("template").string();
    // Else each commit starts one more git, which looks whether there is something to pack.
    options.environment["GIT_CONFIG_COUNT"] = "1";
    options.environment["GIT_CONFIG_KEY_0"] = "maintenance.auto";
    options.environment["GIT_CONFIG_VALUE_0"] = "false";
    options.working_directory = project;
    const ProcessResult result = RunProcess(options);
    EXPECT_EQ(result.exit_code, 0) << script << "\n" << result.output << result.error;
    fs::remove(Path("ran"));
  }

  /// A project with one commit.
  void MakeProject(const std::string& name) {
    project = MakeDirectory("projects/" + name);
    Script(
        "git init -q -b main; echo one > file.txt; seq 50 > long.txt; git add -A;"
        "git commit -qm first");
  }

  [[nodiscard]] ChildProcess::Options McpOptions(const Command& arguments) const {
    ChildProcess::Options options = ServerOptions(arguments);
    for (const auto& [name, value] : Environment()) options.environment[name] = value;
    options.environment["PATH"] =
        "tools:" + Path("linked").string() + ":/usr/local/bin:/usr/bin:/bin";
    options.working_directory = project;
    return options;
  }
  [[nodiscard]] ProcessResult Mcp(const Command& arguments) const {
    return RunProcess(McpOptions(arguments));
  }
  std::string Succeeds(const Command& arguments) const {
    const ProcessResult result = Mcp(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
    return result.output;
  }
  /// Fails with one line, and no output.
  std::string Fails(const Command& arguments) const {
    const ProcessResult result = Mcp(arguments);
    EXPECT_EQ(result.exit_code, arguments.front() == "changes" ? 2 : 1) << result.output;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(LinesOf(result.error).size(), 1U) << result.error;
    return result.error;
  }
  [[nodiscard]] bool TrapWasRun() const { return fs::exists(Path("ran")); }

  std::string project;

 private:
  [[nodiscard]] std::map<std::string, std::optional<std::string>> Environment() const {
    return {{"HOME", Path("home").string()},  {"XDG_CONFIG_HOME", std::nullopt},
            {"XDG_STATE_HOME", std::nullopt}, {"GIT_CONFIG_NOSYSTEM", "1"},
            {"GIT_AUTHOR_NAME", "Ann"},       {"GIT_AUTHOR_EMAIL", "a@b"},
            {"GIT_COMMITTER_NAME", "Ann"},    {"GIT_COMMITTER_EMAIL", "a@b"}};
  }
};

}  // namespace integration
