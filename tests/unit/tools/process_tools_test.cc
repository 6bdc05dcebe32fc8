#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "testing/local_launcher.h"
#include "tools/tools.h"
#include "unit/tools/search_tool_fixture.h"

namespace tools {
namespace {

using nlohmann::json;
using ::testing::EndsWith;

/// Results as text, for clients that are known agents.
class ProcessToolsAsText : public SearchToolFixture {
 protected:
  template <typename Tool>
  std::string Text(Tool& tool, const json& arguments, std::size_t text_bytes = 100'000) {
    const mcp::ResultFormat format{mcp::ResultStyle::kText, text_bytes};
    return TextOf(Render(tool(toolbox_, {arguments, context_, progress_, format}), format));
  }
  std::string Start(const std::string& script) {
    return Text(StartProcess,
                {{"command", {"sh", "-c", script}}, {"directory", kHost}, {"wait_ms", 20'000}});
  }

  Toolbox toolbox_{static_cast<WorkspaceSource&>(*this), {}};
};

TEST_F(ProcessToolsAsText, SayHowToReadOn) {
  EXPECT_THAT(
      Start("head -c 60000 /dev/zero | tr '\\0' x"),
      EndsWith("x\n[p1 exited with 0; next_offset 49152; 10848 more bytes can be read now]"));
  EXPECT_EQ(Text(ReadProcess, {{"id", "p1"}, {"offset", 0}}, 10'000).find('['), 10'000U - 512 + 1);
}

/// Runs something once a process has been started.
class AfterStart final : public mcp::ProgressReporter {
 public:
  explicit AfterStart(std::function<void()> action) : action_(std::move(action)) {}
  void SetStatus(std::string text) override {
    if (text.ends_with("has been started")) action_();
  }

 private:
  const std::function<void()> action_;
};

TEST_F(ProcessToolsAsText, AProcessWhoseIdIsNotReturnedIsStopped) {
  constexpr std::chrono::seconds kLimit{2};
  Toolbox toolbox(static_cast<WorkspaceSource&>(*this), {.time_limit = kLimit});
  support::StopSource stop;
  AfterStart late([&] { support::Pause(kLimit, {}); });
  AfterStart cancelled([&] { stop.Stop(support::StopReason::kCancelled); });
  const json arguments = {{"command", {"sleep", "60"}}, {"directory", kHost}};
  EXPECT_THROW((void)StartProcess(toolbox, {arguments, context_, late}), support::CallError);
  EXPECT_THROW((void)StartProcess(toolbox, {arguments, stop.context(), cancelled}),
               support::Stopped);
  EXPECT_TRUE(toolbox.processes.List().empty());
}

}  // namespace
}  // namespace tools
