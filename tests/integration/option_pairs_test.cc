// `serve` with every pair of its options: each does what it promises, and what is not given has no
// effect.

#include <gmock/gmock.h>

#include <algorithm>

#include "integration/fixture.h"
#include "testing/eventually.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using testing_support::McpClient;
using testing_support::TextOf;

class OptionPairs;

/// One option of `serve`.
struct Option {
  std::string name;
  std::string value;  ///< "DIR/" is the test's directory
  /// Checks what the option promises, or that it is not in effect.
  void (OptionPairs::*check)(bool given);
};

class OptionPairs : public IntegrationTest,
                    public ::testing::WithParamInterface<std::pair<Option, Option>> {
 public:
  void CheckRoot(bool given) {
    EXPECT_EQ(Fails("list_directory", {{"path", Path("root/other").string()}}), given);
  }
  void CheckAllowPath(bool given) { EXPECT_NE(FailsToWrite("extra/new.txt"), given); }
  void CheckAllowSettings(bool given) {
    EXPECT_NE(FailsToWrite("root/project/.git/config"), given);
  }
  void CheckCommandTimeout(bool given) {
    if (!given) return;  // nothing happens for nine minutes
    EXPECT_THAT(TextOf(Run("sleep 300")), HasSubstr("timed out after 2s; its processes"));
  }
  void CheckMaxOutput(bool given) {
    EXPECT_EQ(TextOf(Run("seq 5000")).find("left out") != std::string::npos, given);
  }
  void CheckResults(bool given) { EXPECT_NE(Run("echo").contains("structuredContent"), given); }
  void CheckAudit(bool given) {
    ASSERT_EQ(fs::exists(Path("audit.jsonl")), given);
    if (!given) return;
    EXPECT_EQ(ModeOf(Path("audit.jsonl")), 0600U);
    std::size_t ended = 0;
    for (const std::string& line : LinesOf(ReadFile(Path("audit.jsonl")))) {
      if (json::parse(line).at("outcome") != "started") ++ended;
    }
    EXPECT_EQ(ended, calls_);
  }
  void CheckStart(bool given) { EXPECT_EQ(fs::exists(Path("asked")), given); }

 protected:
  json CallTool(const std::string& tool, const json& arguments) {
    ++calls_;
    return server_->CallTool(tool, arguments);
  }
  json Run(const std::string& script) {
    return CallTool("run_shell_command", {{"command", {"sh", "-c", script}},
                                          {"directory", Path("root/project").string()}});
  }
  bool Fails(const std::string& tool, const json& arguments) {
    return CallTool(tool, arguments).value("isError", false);
  }
  bool FailsToWrite(const std::string& name) {
    return Fails("write_file", {{"path", Path(name).string()}, {"content", "new"}});
  }

  void StartServer() {
    MakeFile("root/project/a.txt", "text");
    for (const char* name : {"root/project/.git", "root/other", "extra"}) MakeDirectory(name);
    auto& instance = StartInstance({{Path("root").string(), "", true}});
    MakeProgram("bin/limactl", "PATH=/usr/bin:/bin\ncd " + Path().string() +
                                   "\n: >asked; while [ ! -e up ]; do sleep 0.02; done\n");
    auto options = ServerOptions({"serve", "default"});
    options.environment["PATH"] = Path("bin").string() + ":/usr/bin:/bin";
    for (const Option& option : {GetParam().first, GetParam().second}) {
      options.arguments.push_back(option.name);
      std::string value = option.value;
      if (value.starts_with("DIR/")) value.replace(0, 3, Path().string());
      if (!value.empty()) options.arguments.push_back(value);
    }
    const bool is_stopped = IsGiven("--start");
    if (is_stopped) instance.Stop();
    server_ = std::make_unique<McpClient>(options);
    server_->Initialize();
    if (!is_stopped) return;
    EXPECT_TRUE(testing_support::Eventually([&] { return fs::exists(Path("asked")); }));
    instance.Start();
    MakeFile("up", "");
  }

  static bool IsGiven(const std::string& option) {
    return GetParam().first.name == option || GetParam().second.name == option;
  }

  std::unique_ptr<McpClient> server_;
  std::size_t calls_ = 0;
};

const std::vector<Option>& Options() {
  static const std::vector<Option> options = {
      {"--root", "DIR/root/project", &OptionPairs::CheckRoot},
      {"--allow-path", "DIR/extra:w", &OptionPairs::CheckAllowPath},
      {"--allow-settings", "", &OptionPairs::CheckAllowSettings},
      {"--command-timeout", "2s", &OptionPairs::CheckCommandTimeout},
      {"--max-output", "1KiB", &OptionPairs::CheckMaxOutput},
      {"--results", "text", &OptionPairs::CheckResults},
      {"--start", "", &OptionPairs::CheckStart},
      {"--audit", "DIR/audit.jsonl", &OptionPairs::CheckAudit}};
  return options;
}

std::vector<std::pair<Option, Option>> Pairs() {
  std::vector<std::pair<Option, Option>> pairs;
  for (const Option& second : Options()) {
    for (const Option& first : Options()) {
      if (&first < &second) pairs.emplace_back(first, second);
    }
  }
  return pairs;
}

TEST_P(OptionPairs, KeepTheirPromises) {
  StartServer();
  EXPECT_FALSE(Fails("list_directory", {{"path", Path("root/project").string()}}));
  EXPECT_THAT(TextOf(Run("echo from the guest")), HasSubstr("from the guest"));
  EXPECT_FALSE(FailsToWrite("root/project/new.txt"));
  EXPECT_EQ(ReadFile(Path("root/project/new.txt")), "new");
  for (const Option& option : Options()) {
    SCOPED_TRACE(option.name);
    (this->*option.check)(IsGiven(option.name));
  }
  EXPECT_EQ(server_->CloseAndWait(), 0) << server_->log();
}

void PrintTo(const Option& option, std::ostream* stream) {
  *stream << option.name;
}

INSTANTIATE_TEST_SUITE_P(Serve, OptionPairs, ::testing::ValuesIn(Pairs()), [](const auto& pair) {
  std::string name = pair.param.first.name + pair.param.second.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The table above has every option of the help.
TEST(OptionTable, IsComplete) {
  const std::string help =
      testing_support::RunProcess({.arguments = {ServerProgram(), "serve", "--help"}}).output;
  std::size_t listed = 0;
  for (const std::string& line : LinesOf(help)) {
    if (line.find(" --") != std::string::npos) ++listed;
  }
  EXPECT_EQ(listed, Options().size() + 1) << "with --help: " << help;
}

}  // namespace
}  // namespace integration
