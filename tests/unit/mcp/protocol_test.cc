#include "mcp/protocol.h"

#include <gtest/gtest.h>

#include "mcp/protocol_error.h"

namespace mcp {
namespace {

TEST(ModernMeta, ParamsWithoutMetaLackItsVersion) {
  try {
    static_cast<void>(ParseModernMeta(nlohmann::json::object()));
    FAIL() << "accepted";
  } catch (const ProtocolError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidParams);
    EXPECT_STREQ(error.what(),
                 R"(_meta must hold "io.modelcontextprotocol/protocolVersion", a string)");
  }
}

TEST(ModernMeta, ParamsWithoutMetaAreNotModern) {
  EXPECT_FALSE(HasModernMeta(nlohmann::json::object()));
  EXPECT_FALSE(HasModernMeta({{"_meta", "text"}}));
}

}  // namespace
}  // namespace mcp
