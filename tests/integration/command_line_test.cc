// The command line: what is printed where, and with which exit code.

#include <gmock/gmock.h>

#include <algorithm>

#include "integration/fixture.h"
#include "integration/schema.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
using testing_support::ProcessResult;

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
}

TEST_F(CommandLine, EachCommandHasItsOwnHelp) {
  const std::string serve = Succeeds({"serve", "--help"}).output;
  for (const char* option : {"--root", "--allow-path", "--command-timeout", "--guest-silence",
                             "--max-output", "--start", "--audit"})
    EXPECT_THAT(serve, HasSubstr(option));
  EXPECT_EQ(Succeeds({"serve", "-h"}).output, serve);
  const std::string info = Succeeds({"info", "--help"}).output;
  EXPECT_THAT(info, HasSubstr("info"));
  EXPECT_EQ(Succeeds({"info", "-h"}).output, info);
  EXPECT_THAT(Succeeds({"generate-doc", "--help"}).output, HasSubstr("generate-doc"));
}

TEST_F(CommandLine, VersionIsOneLine) {
  const std::string version = Succeeds({"--version"}).output;
  EXPECT_THAT(version, MatchesRegex("limactl-mcp version [0-9]+\\.[0-9]+\\.[0-9]+.*\n"));
  EXPECT_EQ(std::count(version.begin(), version.end(), '\n'), 1);
  EXPECT_EQ(Succeeds({"-v"}).output, version);
}

TEST_F(CommandLine, UnknownCommandIsOneLine) {
  EXPECT_THAT(FailsWithOneLine({"unknown"}), HasSubstr("unknown"));
  EXPECT_THAT(FailsWithOneLine({"Serve"}), HasSubstr("Serve"));
  FailsWithOneLine({""});
}

TEST_F(CommandLine, UnknownOptionIsOneLine) {
  EXPECT_THAT(FailsWithOneLine({"--unknown"}), HasSubstr("unknown"));
  EXPECT_THAT(FailsWithOneLine({"serve", "--unknown"}), HasSubstr("unknown"));
  EXPECT_THAT(FailsWithOneLine({"info", "--unknown"}), HasSubstr("unknown"));
  EXPECT_THAT(FailsWithOneLine({"info", "--root", "/x"}), HasSubstr("root"));
  FailsWithOneLine({"-x"});
}

TEST_F(CommandLine, TooManyArgumentsAreOneLine) {
  EXPECT_THAT(FailsWithOneLine({"serve", "default", "second"}), HasSubstr("second"));
  EXPECT_THAT(FailsWithOneLine({"info", "something"}), HasSubstr("something"));
  FailsWithOneLine({"generate-doc"});
  EXPECT_THAT(FailsWithOneLine({"generate-doc", Path("a"), Path("b")}), HasSubstr("b"));
}

TEST_F(CommandLine, BadOptionValuesAreOneLine) {
  StartInstance(Mounts{});
  EXPECT_THAT(FailsWithOneLine({"serve", "default", "--guest-silence", "3999ms"}),
              HasSubstr("at least 4s"));
  EXPECT_THAT(FailsWithOneLine({"serve", "default", "--command-timeout", "soon"}),
              HasSubstr("soon"));
  EXPECT_THAT(FailsWithOneLine({"serve", "default", "--max-output", "lots"}), HasSubstr("lots"));
  FailsWithOneLine({"serve", "default", "--root"});
  FailsWithOneLine({"serve", "default", "--allow-path", ""});
}

TEST_F(CommandLine, InfoNeedsNoInstanceAndIndentsByFourSpaces) {
  const std::string output = Succeeds({"info"}).output;
  EXPECT_EQ(json::parse(output).dump().substr(0, 10), "{\"tools\":[");
  EXPECT_EQ(json::parse(output).size(), 1U);
  // Members keep their order in ordered_json, so that only the layout is compared.
  EXPECT_EQ(output, nlohmann::ordered_json::parse(output).dump(4) + "\n");
  EXPECT_FALSE(fs::exists(LimaHome()));
}

TEST_F(CommandLine, OutputThatCannotBeWrittenIsAFailure) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << Skipping("this machine has no /dev/full");
  const ProcessResult result = testing_support::RunProcess(
      {.arguments = {"sh", "-c", "exec \"$0\" info >/dev/full", ServerProgram()}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("cannot write to standard output"));
}

TEST_F(CommandLine, GenerateDocWritesThePageOfTheTools) {
  MakeDirectory("doc");
  Succeeds({"generate-doc", Path("doc")});
  const std::string page = ReadFile(Path("doc/mcp.md"));
  EXPECT_THAT(page, StartsWith("---\ntitle: MCP tools\nweight: 99\n---\n"));
  const json contract = Contract();
  for (const auto& [name, schemas] : contract.items())
    EXPECT_THAT(page, HasSubstr("\n## `" + name + "`\n"));
  std::size_t count = 0;
  for (const std::string heading : {"### Description", "### Input Schema", "### Output Schema"}) {
    for (std::size_t at = page.find(heading); at != std::string::npos;
         at = page.find(heading, at + 1))
      ++count;
  }
  EXPECT_EQ(count, 3U * 7U);
  EXPECT_THAT(page, HasSubstr("```json\n{"));
}

TEST_F(CommandLine, GeneratedDocIsTheOneInTheRepository) {
  MakeDirectory("doc");
  Succeeds({"generate-doc", Path("doc")});
  EXPECT_EQ(ReadFile(Path("doc/mcp.md")),
            ReadFile(LIMACTL_MCP_SOURCE_DIRECTORY "/share/lima/mcp.md"))
      << "write it anew: limactl-mcp generate-doc share/lima";
}

TEST_F(CommandLine, GenerateDocIntoAFileIsOneLine) {
  MakeFile("file", "");
  EXPECT_THAT(FailsWithOneLine({"generate-doc", Path("file")}), HasSubstr(Path("file").string()));
}

}  // namespace
}  // namespace integration
