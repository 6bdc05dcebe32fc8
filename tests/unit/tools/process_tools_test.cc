#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "testing/local_launcher.h"
#include "tools/tools.h"
#include "unit/tools/search_tool_fixture.h"

namespace tools {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::StartsWith;

/// Results as text, for clients that are known agents.
class ProcessToolsAsText : public SearchToolFixture {
 protected:
  Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) override {
    Workspace workspace = SearchToolFixture::Acquire(context, progress);
    workspace.shell = "/bin/sh";
    return workspace;
  }

  using Tool = mcp::ToolResult(Toolbox&, const mcp::ToolCall&);
  std::string Text(Tool& tool, const json& arguments, std::size_t text_bytes = 100'000) {
    const mcp::ResultFormat format{mcp::ResultStyle::kText, text_bytes};
    return tool(toolbox_, {arguments, context_, progress_, format}).text.value_or("no text");
  }
  std::string Start(const std::string& script) {
    return Text(StartProcess,
                {{"command", {"sh", "-c", script}}, {"directory", kHost}, {"wait_ms", 20'000}});
  }

  Toolbox toolbox_{static_cast<WorkspaceSource&>(*this), {}};
};

TEST_F(ProcessToolsAsText, AreTheOutputAndALineOfState) {
  EXPECT_EQ(Text(ReadProcess, json::object()), "No process has been started.");
  EXPECT_EQ(Start("echo out; printf x; exit 2"), "out\nx\n[p1 exited with 2]");
  EXPECT_EQ(Text(ReadProcess, {{"id", "p1"}}), "[p1 exited with 2]");
  EXPECT_EQ(Text(ReadProcess, {{"id", "p1"}, {"offset", -3}}), "t\nx\n[p1 exited with 2]");
  EXPECT_EQ(Text(WriteProcess, {{"id", "p1"}, {"signal", "TERM"}}), "[p1 exited with 2]");
  EXPECT_THAT(Text(ReadProcess, json::object()),
              StartsWith("p1 exited with 2: sh -c 'echo out; printf x; exit 2' (in " +
                         std::string(kHost) + ", since 20"));
}

TEST_F(ProcessToolsAsText, SayHowToReadOn) {
  EXPECT_THAT(
      Start("head -c 60000 /dev/zero | tr '\\0' x"),
      EndsWith("x\n[p1 exited with 0; next_offset 49152; 10848 more bytes can be read now]"));
  EXPECT_EQ(Text(ReadProcess, {{"id", "p1"}, {"offset", 0}}, 10'000).find('['), 10'000U - 512 + 1);
}

TEST_F(ProcessToolsAsText, NameTheEndOfACutOutput) {
  shell::OutputLog log(100);
  log.Add("text\n");
  toolbox_.cut_outputs.Keep(std::move(log));
  EXPECT_EQ(Text(ReadProcess, {{"id", "c1"}}), "text\n[end of c1]");
}

}  // namespace
}  // namespace tools
