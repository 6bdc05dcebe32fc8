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
  std::string text;  ///< with its value; $D is the test's directory
  /// Checks what the option promises, or that it is not in effect.
  void (OptionPairs::*check)(bool given);
};

void PrintTo(const Option& option, std::ostream* stream) {
  *stream << option.text;
}

class OptionPairs : public IntegrationTest,
                    public ::testing::WithParamInterface<std::pair<Option, Option>> {
 public:
  void CheckRoot(bool given) {
    EXPECT_EQ(Fails("list_directory", {{"path", Path("root/other").string()}}), given);
  }
  void CheckAllowPath(bool given) { EXPECT_NE(FailsToWrite("extra/new.txt"), given); }
  void CheckAllowSettings(bool given) {
    EXPECT_NE(FailsToWrite("root/project/.git/config"), given);
    EXPECT_NE(FailsToWrite("root/project/.mcp.json"), given) << "of an agent";
  }
  void CheckCommandTimeout(bool given) {
    if (!given) return;  // nothing would happen for nine minutes
    EXPECT_THAT(TextOf(Run("sleep 300")), HasSubstr("timed out after 3s; its processes"));
  }
  void CheckMaxOutput(bool given) {
    EXPECT_EQ(TextOf(Run("seq 5000")).find("left out") != std::string::npos, given);
  }
  void CheckResults(bool given) { EXPECT_NE(Run("echo").contains("structuredContent"), given); }
  void CheckStart(bool given) { EXPECT_EQ(fs::exists(Path("asked")), given); }
  void CheckAudit(bool given) {
    ASSERT_EQ(fs::exists(Path("audit.jsonl")), given);
    if (!given) return;
    const std::vector<std::string> lines = LinesOf(ReadFile(Path("audit.jsonl")));
    const auto is_end = [](const std::string& line) {
      return json::parse(line).at("outcome") != "started";
    };
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(), is_end), calls_);
  }

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
  static bool IsGiven(const Option& option) {
    return GetParam().first.text == option.text || GetParam().second.text == option.text;
  }

  void StartServer() {
    for (const char* name : {"root/project/.git", "root/other", "extra"}) MakeDirectory(name);
    auto& instance = StartInstance({{Path("root").string(), "", true}});
    MakeProgram("bin/limactl", "PATH=/usr/bin:/bin\ncd " + Path().string() +
                                   "\n: >asked; while [ ! -e up ]; do sleep 0.02; done\n");
    auto server = ServerOptions({"serve"});
    server.environment["PATH"] = Path("bin").string() + ":/usr/bin:/bin";
    for (std::string text : {GetParam().first.text, GetParam().second.text}) {
      const std::size_t directory = text.find("$D");
      if (directory != std::string::npos) text.replace(directory, 2, Path().string());
      server.arguments.push_back(text);
    }
    const bool is_stopped = GetParam().second.text == "--start";
    if (is_stopped) instance.Stop();
    server_ = std::make_unique<McpClient>(server);
    server_->Initialize();
    if (!is_stopped) return;
    EXPECT_TRUE(testing_support::Eventually([&] { return fs::exists(Path("asked")); }));
    instance.Start();
    MakeFile("up", "");
  }

  std::unique_ptr<McpClient> server_;
  std::ptrdiff_t calls_ = 0;
};

const std::vector<Option>& Options() {
  static const std::vector<Option> options = {
      {"--root=$D/root/project", &OptionPairs::CheckRoot},
      {"--allow-path=$D/extra:w", &OptionPairs::CheckAllowPath},
      {"--allow-settings", &OptionPairs::CheckAllowSettings},
      {"--command-timeout=3s", &OptionPairs::CheckCommandTimeout},
      {"--max-output=1KiB", &OptionPairs::CheckMaxOutput},
      {"--results=text", &OptionPairs::CheckResults},
      {"--audit=$D/audit.jsonl", &OptionPairs::CheckAudit},
      {"--start", &OptionPairs::CheckStart}};
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
    SCOPED_TRACE(option.text);
    (this->*option.check)(IsGiven(option));
  }
  EXPECT_EQ(server_->CloseAndWait(), 0) << server_->log();
}

INSTANTIATE_TEST_SUITE_P(Serve, OptionPairs, ::testing::ValuesIn(Pairs()));

TEST_F(IntegrationTest, EveryOptionOfServeIsPaired) {
  for (const std::string& line : LinesOf(RunServer({"serve", "--help"}).output)) {
    const std::size_t begin = line.find(" --");
    if (begin == std::string::npos || line.find("--help") != std::string::npos) continue;
    const std::string name = line.substr(begin + 1, line.find(' ', begin + 1) - begin - 1);
    if (name == "--copy") continue;  // tests/suites/copy.txt
    EXPECT_TRUE(std::any_of(Options().begin(), Options().end(), [&](const Option& option) {
      return option.text.substr(0, option.text.find('=')) == name;
    })) << name;
  }
}

}  // namespace
}  // namespace integration
