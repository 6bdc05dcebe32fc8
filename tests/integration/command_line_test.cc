// What needs a JSON parser or the repository. tests/suites/command_line.txt has the other tests.

#include "integration/fixture.h"

namespace integration {
namespace {

class CommandLine : public IntegrationTest {
 protected:
  std::string Succeeds(const std::vector<std::string>& arguments) {
    const ProcessResult result = RunServer(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.error, "");
    return result.output;
  }
};

TEST_F(CommandLine, InfoIsIndentedByFourSpaces) {
  const std::string output = Succeeds({"info"});
  // Members keep their order in ordered_json, so that only the layout is compared.
  EXPECT_EQ(output, nlohmann::ordered_json::parse(output).dump(4) + "\n");
}

TEST_F(CommandLine, GenerateDocWritesThePageInTheRepository) {
  MakeDirectory("doc");
  Succeeds({"generate-doc", Path("doc")});
  EXPECT_EQ(ReadFile(Path("doc/mcp.md")),
            ReadFile(LIMACTL_MCP_SOURCE_DIRECTORY "/share/lima/mcp.md"))
      << "update it: limactl-mcp generate-doc share/lima";
}

}  // namespace
}  // namespace integration
