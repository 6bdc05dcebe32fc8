#include <gtest/gtest.h>

#include "agents/agent.h"

namespace agents {
namespace {

using mcp::ResultFormat;
using mcp::ResultStyle;

TEST(KnownAgents, GetTextAndOthersTheContract) {
  for (const char* name : {"claude-code", "codex-mcp-client", "gemini-cli-mcp-client", "opencode",
                           "cursor-vscode", "Visual Studio Code - Insiders", "Zed"}) {
    EXPECT_EQ(FormatFor(name).style, ResultStyle::kText) << name;
  }
  for (const char* name : {"", "mcp", "a claude-code", "Visual Studio"}) {
    EXPECT_EQ(FormatFor(name).style, ResultStyle::kStructured) << name;
  }
  EXPECT_LT(FormatFor("opencode").text_bytes, 50'000U);
}

TEST(KnownAgents, TheUserDecidesOtherwise) {
  const ResultFormat structured = FormatFor("opencode", ResultStyle::kStructured);
  EXPECT_EQ(structured.style, ResultStyle::kStructured);
  EXPECT_EQ(FormatFor("mcp", ResultStyle::kText).style, ResultStyle::kText);
}

}  // namespace
}  // namespace agents
