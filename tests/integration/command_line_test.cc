// The command line: output, errors and exit codes.

#include <algorithm>

#include "integration/fixture.h"

namespace integration {
namespace {

using ::testing::MatchesRegex;

class CommandLine : public IntegrationTest {
 protected:
  ProcessResult Succeeds(const std::vector<std::string>& arguments) {
    const ProcessResult result = RunServer(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.error, "");
    return result;
  }
  std::string FailsWithOneLine(const std::vector<std::string>& arguments) {
    const ProcessResult result = RunServer(arguments);
    EXPECT_EQ(result.exit_code, 1) << ::testing::PrintToString(arguments);
    EXPECT_EQ(result.output, "") << ::testing::PrintToString(arguments);
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    return result.error;
  }
};

TEST_F(CommandLine, WithoutArgumentsPrintsTheHelp) {
  const std::string help = Succeeds({}).output;
  EXPECT_THAT(help, AllOf(HasSubstr("serve"), HasSubstr("info"), HasSubstr("--version"),
                          Not(HasSubstr("generate-doc"))));
  EXPECT_EQ(Succeeds({"-h"}).output, help);
  EXPECT_EQ(Succeeds({"--help"}).output, help);
  EXPECT_EQ(Succeeds({"help"}).output, help);
}

TEST_F(CommandLine, EachCommandHasItsOwnHelp) {
  for (const std::string command :
       {"serve", "run", "configure", "info", "doctor", "generate-doc"}) {
    const std::string help = Succeeds({command, "--help"}).output;
    EXPECT_THAT(help, HasSubstr("limactl mcp " + command + " [OPTIONS]"));
    EXPECT_EQ(Succeeds({command, "-h"}).output, help);
    EXPECT_EQ(Succeeds({"help", command}).output, help);
  }
}

TEST_F(CommandLine, VersionIsOneLine) {
  const std::string version = Succeeds({"--version"}).output;
  EXPECT_THAT(version, MatchesRegex("limactl-mcp version [0-9]+\\.[0-9]+\\.[0-9]+.*\n"));
  EXPECT_EQ(std::count(version.begin(), version.end(), '\n'), 1);
  EXPECT_EQ(Succeeds({"-v"}).output, version);
}

TEST_F(CommandLine, EachMistakeIsOneLine) {
  StartInstance(Mounts{});
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"unknown"}, "unknown"},
      {{"Serve"}, "Serve"},
      {{""}, "unknown command"},
      {{"help", "unknown"}, "unknown command"},
      {{"--unknown"}, "unknown"},
      {{"-x"}, "unknown option"},
      {{"serve", "--unknown"}, "unknown"},
      {{"info", "--root", "/x"}, "root"},
      {{"serve", "default", "second"}, "second"},
      {{"info", "something"}, "something"},
      {{"generate-doc"}, "DIR"},
      {{"generate-doc", "/no/such/directory"}, "/no/such/directory"},
      {{"generate-doc", "a", "b"}, "b"},
      {{"serve", "default", "--command-timeout", "soon"}, "soon"},
      {{"serve", "default", "--max-output", "lots"}, "lots"},
      {{"serve", "default", "--max-output", "1000"}, "1 KiB"},
      {{"serve", "default", "--results", "pretty"}, "pretty"},
      {{"serve", "default", "--root"}, "root"},
      {{"serve", "default", "--root", ServerProgram()}, "is not a directory"},
      {{"serve", "default", "--allow-path", ""}, "allow-path"},
      {{"serve", "default", "--allow-path", "/tmp:r"}, "DIR:w"},
      {{"serve", "--audit", "/tmp/a", "--audit", "/tmp/b"}, "--audit is given more than once"},
      {{"doctor", "--json", "--json"}, "--json is given more than once"},
      {{"serve", "default", "--allow-path", "relative"}, "relative"},
      {{"serve", "default", "--audit", "/no/such/directory/audit"}, "cannot be opened"}};
  for (const auto& [arguments, text] : cases) {
    EXPECT_THAT(FailsWithOneLine(arguments), HasSubstr(text));
  }
}

TEST_F(CommandLine, InfoNeedsNoInstanceAndIndentsByFourSpaces) {
  const std::string output = Succeeds({"info"}).output;
  EXPECT_EQ(json::parse(output).dump().substr(0, 10), "{\"tools\":[");
  EXPECT_EQ(json::parse(output).size(), 1U);
  // Members keep their order in ordered_json, so that only the layout is compared.
  EXPECT_EQ(output, nlohmann::ordered_json::parse(output).dump(4) + "\n");
  EXPECT_FALSE(fs::exists(LimaHome()));
}

TEST_F(CommandLine, InfoPrintsTheToolsThatAreServed) {
  StartGuest();
  EXPECT_EQ(json::parse(Succeeds({"info"}).output).at("tools"),
            client().Request("tools/list").at("result").at("tools"));
}

TEST_F(CommandLine, OutputThatCannotBeWrittenIsAFailure) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << Skipping("this machine has no /dev/full");
  const ProcessResult result =
      RunProcess({.arguments = {"sh", "-c", "exec \"$0\" info >/dev/full", ServerProgram()}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("cannot write to standard output"));
}

TEST_F(CommandLine, GenerateDocWritesThePageInTheRepository) {
  MakeDirectory("doc");
  Succeeds({"generate-doc", Path("doc")});
  const std::string page = ReadFile(Path("doc/mcp.md"));
  EXPECT_EQ(page, ReadFile(LIMACTL_MCP_SOURCE_DIRECTORY "/share/lima/mcp.md"))
      << "update it: limactl-mcp generate-doc share/lima";
  const json contract = Contract();
  for (const auto& [name, schemas] : contract.items()) {
    EXPECT_THAT(page, HasSubstr("\n## `" + name + "`\n\n### Description\n"));
  }
}

}  // namespace
}  // namespace integration
