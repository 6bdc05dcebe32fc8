#include "mcp/schema.h"

#include <gtest/gtest.h>

namespace mcp {
namespace {

using nlohmann::json;

std::string Error(const json& schema, const json& value) {
  return FindSchemaError(schema, value).value_or("");
}

TEST(Schema, EachTypeFitsItself) {
  const json values = {{"null", nullptr}, {"boolean", true}, {"object", json::object()},
                       {"array", {1}},    {"number", 1.5},   {"integer", 1},
                       {"string", "x"}};
  for (const auto& [type, unused] : values.items()) {
    for (const auto& [value_type, value] : values.items()) {
      const bool fits = type == value_type || (type == "number" && value_type == "integer");
      EXPECT_EQ(Error({{"type", type}}, value).empty(), fits) << type << " " << value_type;
    }
  }
}

TEST(Schema, UnionTakesEitherType) {
  const json schema = {{"type", {"null", "string"}}};
  EXPECT_EQ(Error(schema, nullptr), "");
  EXPECT_EQ(Error(schema, "x"), "");
  EXPECT_EQ(Error(schema, 5), "the arguments: expected null or string, got integer 5");
}

TEST(Schema, MinimumIsInclusive) {
  const json schema = {{"minimum", 1}};
  EXPECT_EQ(Error(schema, 1), "");
  EXPECT_EQ(Error(schema, 0), "the arguments: expected at least 1, got integer 0");
  EXPECT_EQ(Error(schema, 0.5), "the arguments: expected at least 1, got number 0.5");
}

TEST(Schema, MaximumIsInclusive) {
  const json schema = {{"maximum", 3}};
  EXPECT_EQ(Error(schema, 3), "");
  EXPECT_EQ(Error(schema, 4), "the arguments: expected at most 3, got integer 4");
}

TEST(Schema, EnumTakesItsValuesOnly) {
  const json schema = {{"enum", {"INT", "TERM"}}};
  EXPECT_EQ(Error(schema, "TERM"), "");
  EXPECT_EQ(Error(schema, "term"),
            R"(the arguments: expected one of ["INT","TERM"], got string "term")");
}

TEST(Schema, IntegersThatAreWrittenWithAnExponentFitInto64BitsToo) {
  EXPECT_EQ(Error({{"type", "integer"}}, 1e3), "");
  EXPECT_EQ(Error({{"type", "integer"}}, 18446744073709551615U), "");
  EXPECT_EQ(Error({{"type", {"null", "integer"}}}, -0x1p63), "");
  for (const double number : {0x1p64, -0x1p64, 1e300}) {
    EXPECT_NE(Error({{"type", "integer"}}, number), "") << number;
    EXPECT_EQ(Error({{"type", "number"}}, number), "");
  }
}

}  // namespace
}  // namespace mcp
