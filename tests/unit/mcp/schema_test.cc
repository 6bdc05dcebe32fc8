#include "mcp/schema.h"

#include <gmock/gmock.h>

#include <cstdint>

namespace mcp {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

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

TEST(Schema, IntegersThatAreWrittenWithAnExponentAreIntegers) {
  EXPECT_EQ(Error({{"type", "integer"}}, 1e3), "");
}

TEST(Schema, NumbersFitInto64Bits) {
  for (const json& number : {json(INT64_MIN), json(INT64_MAX), json(-0x1p63)}) {
    EXPECT_EQ(Error({{"type", {"null", "integer"}}}, number), "") << number;
  }
  for (const json& number :
       {json(9223372036854775808U), json(0x1p63), json(-0x1p64), json(1e300)}) {
    EXPECT_THAT(Error({{"type", "integer"}}, number),
                StartsWith("the arguments: expected a number that fits into 64 bits, got "))
        << number;
  }
}

TEST(Schema, NullCountsAsNotGivenForOptionalProperties) {
  const json schema = {{"required", {"needed"}},
                       {"properties",
                        {{"needed", {{"type", "string"}}},
                         {"text", {{"type", "string"}}},
                         {"count", {{"type", "integer"}}},
                         {"path", {{"type", {"null", "string"}}}}}}};
  const auto kept = [&schema](json value) {
    DropAbsent(schema, value);
    return value;
  };
  EXPECT_EQ(kept({{"text", nullptr}, {"count", nullptr}, {"path", nullptr}}), json::object());
  EXPECT_EQ(kept({{"needed", nullptr}, {"unknown", nullptr}}),
            json({{"needed", nullptr}, {"unknown", nullptr}}));
  EXPECT_EQ(kept({{"needed", ""}, {"text", ""}, {"path", ""}}),
            json({{"needed", ""}, {"text", ""}}))
      << "an empty text counts as null where null is allowed";
  EXPECT_EQ(kept({{"text", "a"}, {"count", 0}, {"path", "/"}}),
            json({{"text", "a"}, {"count", 0}, {"path", "/"}}));
}

}  // namespace
}  // namespace mcp
