#include "configure/toml.h"

#include <gmock/gmock.h>

namespace configure {
namespace {

TEST(TomlValue, IsOnOneLine) {
  EXPECT_EQ(TomlValue("/a\x7f\"\\\n\xC3\xA4"), "\"/a\\u007F\\\"\\\\\\n\xC3\xA4\"");
  EXPECT_EQ(TomlValue({{"a", {1, true}}, {"/b", Json::object()}}), "{a = [1, true], \"/b\" = {}}");
}

TEST(TomlText, HasATablePerPath) {
  const Change::Kind kind = Change::Kind::kSetting;
  EXPECT_EQ(TomlText({{kind, {"sandbox_mode"}, "read-only"},
                      {kind, {"features", "a"}, false},
                      {kind, {"features", "b"}, {"x\"y"}},
                      {kind, {"mcp_servers", "lima", "timeout"}, 600}}),
            "sandbox_mode = \"read-only\"\n\n[features]\na = false\nb = [\"x\\\"y\"]\n\n"
            "[mcp_servers.lima]\ntimeout = 600\n");
}

TEST(TomlHasServer, FindsItsTables) {
  EXPECT_TRUE(TomlHasServer("a = 1\n[mcp_servers.lima] # x\n"));
  EXPECT_TRUE(TomlHasServer("[mcp_servers.lima2]\n[mcp_servers.lima.env]\n"));
  EXPECT_FALSE(TomlHasServer("[mcp_servers.lima2]\n# [mcp_servers.lima]\n"));
  EXPECT_FALSE(TomlHasServer("[mcp_servers.lima"));
}

}  // namespace
}  // namespace configure
