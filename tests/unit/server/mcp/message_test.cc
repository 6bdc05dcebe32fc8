// SPDX-License-Identifier: Apache-2.0
// Messages, arguments that fit a schema, and JSON that is written.

#include "mcp/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "mcp/json_writer.h"
#include "mcp/schema.h"

namespace mcp {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

/// Whether a message with these params is read.
bool IsRead(const std::string& params) {
  const Message message =
      ParseMessage(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + params + "}}");
  if (!message.error) return true;
  EXPECT_EQ(message.error->code(), ErrorCode::kInvalidRequest);
  return false;
}

TEST(Message, DepthAtTheLimitIsRead) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(IsRead(nested(kMaxJsonDepth - 2)));
  EXPECT_FALSE(IsRead(nested(kMaxJsonDepth - 1)));
}

TEST(Message, ValuesAtTheLimitAreRead) {
  const auto commas = [](std::size_t count) {
    std::string text = "[0";
    for (std::size_t i = 0; i < count; ++i) text += ",0";
    return text + "]";
  };
  // Three containers, and three members beside the first of the message.
  EXPECT_TRUE(IsRead(commas(kMaxJsonValues - 7)));
  EXPECT_FALSE(IsRead(commas(kMaxJsonValues - 6)));
}

TEST(Message, UnpairedSurrogatesBecomeTheReplacementCharacter) {
  const std::string kReplacement = "\xEF\xBF\xBD";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"(\ud83d)", kReplacement},
      {R"(x \uD83D y)", "x " + kReplacement + " y"},
      {R"(\ude00)", kReplacement},
      {R"(\ud83d\ud83d\ude00)", kReplacement + "😀"},
      {R"(\ude00\ud83d)", kReplacement + kReplacement},
      {R"(\ud83d\n)", kReplacement + "\n"},
      {R"(\ud83d\\ude00)", kReplacement + "\\ude00"},
      {R"(\\ud83d)", "\\ud83d"},
      {R"(\\\ud83d)", "\\" + kReplacement},
      {R"(\\\ud83d\ude00)", "\\😀"},
      {R"(\uD83D\uDE00\ud83d\ude00)", "😀😀"},
      {R"(\u0064\ud7ff\ue000)", "d\xED\x9F\xBF\xEE\x80\x80"}};
  for (const auto& [escaped, text] : cases) {
    const Message message = ParseMessage(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{")" +
                                         escaped + R"(":")" + escaped + R"("}})");
    EXPECT_EQ(message.params, json({{text, text}})) << escaped;
  }
}

TEST(Message, ANumberOutOfRangeIsALargeOne) {
  const std::vector<std::pair<std::string, json>> cases = {
      {"1e999", 9e307},
      {"-1e400", -9e307},
      {"2e308", 9e307},
      {"1.7e308", 1.7e308},
      {"[1,{\"a\":1E+999},1e-999]", {1, {{"a", 9e307}}, 0.0}},
      {"17976931348623157" + std::string(300, '0'), 9e307}};
  for (const auto& [number, value] : cases) {
    const Message message = ParseMessage(R"({"jsonrpc":"2.0","method":"m","params":{"\"1e999":)" +
                                         number + R"(},"id":"x"})");
    EXPECT_EQ(message.id, "\"x\"") << number;
    EXPECT_EQ(message.params, json({{"\"1e999", value}})) << number;
  }
  EXPECT_FALSE(ParseMessage(R"({"jsonrpc":"2.0","method":"m","id":1e999})").id);
}

TEST(Message, BracketsAndCommasInAStringAreText) {
  EXPECT_TRUE(IsRead("\"" + std::string(kMaxJsonValues, ',') + "\""));
  EXPECT_TRUE(IsRead("\"\\\"" + std::string(200, '[') + "\""));
}

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

TEST(Schema, ErrorsSayWhatWasExpectedAndWhatCame) {
  const json text_or_null = {{"type", {"null", "string"}}};
  const json signal = {{"enum", {"INT", "TERM"}}};
  const std::vector<std::tuple<json, json, std::string>> cases = {
      {text_or_null, nullptr, ""},
      {text_or_null, "x", ""},
      {text_or_null, 5, "expected null or string, got integer 5"},
      {{{"minimum", 1}}, 1, ""},
      {{{"minimum", 1}}, 0, "expected at least 1, got integer 0"},
      {{{"minimum", 1}}, 0.5, "expected at least 1, got number 0.5"},
      {{{"maximum", 3}}, 3, ""},
      {{{"maximum", 3}}, 4, "expected at most 3, got integer 4"},
      {signal, "TERM", ""},
      {signal, "term", R"(expected one of ["INT","TERM"], got string "term")"},
      {{{"type", "integer"}}, 1e3, ""},  // an integer in JSON Schema
  };
  for (const auto& [schema, value, error] : cases) {
    EXPECT_EQ(Error(schema, value), error.empty() ? "" : "the arguments: " + error);
  }
}

TEST(Schema, ErrorsNameThePropertyAndBoundTheValue) {
  const json nested = {{"type", "object"},
                       {"properties", {{"deep", {{"type", "boolean"}}}}},
                       {"required", {"deep"}},
                       {"additionalProperties", false}};
  const json words = {{"type", "array"}, {"items", {{"type", "string"}}}};
  json list = words;
  list["description"] = R"(Words: ["a"].)";
  const json schema = {
      {"properties",
       {{"count", {{"type", "integer"}}}, {"words", words}, {"list", list}, {"nested", nested}}}};
  const std::vector<std::pair<json, std::string>> cases = {
      {{{"count", 1.5}}, R"("count": expected integer, got number 1.5)"},
      {{{"count", 2.0}}, ""},
      {{{"words", "a"}}, R"("words": expected array, got string "a")"},
      {{{"words", {"a", 5}}}, R"("words[1]": expected string, got integer 5)"},
      {{{"words", {{"a", std::string(80, 'x')}}}}, R"("words": expected array, got object)"},
      {{{"list", "a b"}}, R"("list": expected array, got string "a b"; Words: ["a"].)"},
      {{{"words", std::string(80, 'x')}}, R"("words": expected array, got string of 80 bytes)"},
      {{{"nested", json::object()}}, R"("nested.deep": required, but missing)"},
      {{{"nested", {{"deep", "yes"}}}}, R"("nested.deep": expected boolean, got string "yes")"},
      {{{"nested", {{"deep", true}, {"other", 1}}}},
       R"("nested.other": unexpected; expected only deep)"}};
  for (const auto& [value, error] : cases) {
    EXPECT_EQ(Error(schema, value), error.empty() ? "" : "property " + error);
  }
}

TEST(Schema, NumbersFitInto64Bits) {
  for (const json& number : {json(INT64_MIN), json(INT64_MAX), json(-0x1p62)}) {
    EXPECT_EQ(Error({{"type", {"null", "integer"}}}, number), "") << number;
  }
  for (const json& number :
       {json(9223372036854775808U), json(0x1p63), json(-0x1p64), json(1e300)}) {
    EXPECT_THAT(Error({{"type", "integer"}}, number),
                StartsWith("the arguments: expected integer of 64 bits, got number "))
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
  const auto kept = [&schema](const json& value) {
    return Understand(schema, value).value_or(value);
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

TEST(Schema, TextThatIsExactlyWhatAPropertyTakesIsThat) {
  const json schema = {{"required", {"words"}},
                       {"properties",
                        {{"words", {{"type", "array"}, {"items", {{"type", "string"}}}}},
                         {"count", {{"type", "integer"}, {"minimum", 1}}},
                         {"flag", {{"type", "boolean"}}},
                         {"path", {{"type", {"null", "string"}}}},
                         {"signal", {{"type", "string"}, {"enum", {"INT"}}}},
                         {"text", {{"type", "string"}}}}}};
  const std::vector<std::tuple<std::string, std::string, json>> cases = {
      {"words", R"(["ls","a b"])", {"ls", "a b"}},
      {"words", R"( [ "\ud83d" ] )", {"\xEF\xBF\xBD"}},
      {"words", "[]", json::array()},
      {"words", "[1]", "[1]"},
      {"words", "ls -l", "ls -l"},
      {"words", R"(["ls")", R"(["ls")"},
      {"words", std::string(200'000, '['), std::string(200'000, '[')},
      {"words", "", ""},
      {"words", "null", "null"},
      {"count", "5", 5},
      {"count", "5.0", 5},
      {"count", "0", "0"},
      {"count", "5 lines", "5 lines"},
      {"count", "1e999", "1e999"},
      {"flag", "true", true},
      {"flag", "True", "True"},
      {"flag", "1", "1"},
      {"path", "5", "5"},
      {"text", R"(["ls"])", R"(["ls"])"},
      {"signal", R"("INT")", R"("INT")"}};
  for (const auto& [name, text, meant] : cases) {
    const json value = {{name, text}};
    EXPECT_EQ(Understand(schema, value).value_or(value), json({{name, meant}})) << name << text;
  }
}

TEST(JsonWriter, WritesWhatNlohmannWrites) {
  std::string every_ascii_byte;
  for (int c = 0; c < 128; ++c) every_ascii_byte += static_cast<char>(c);
  const Json value = {{"a", {1, -2, 2.5, true, nullptr}},
                      {"b", Json::object()},
                      {"c", Json::array()},
                      {"every", every_ascii_byte},
                      {"quote\"", "back\\slash \b\f\n\r\t\x01 é 😀"}};
  EXPECT_EQ(ToJson(value), value.dump());
  EXPECT_EQ(ToJson({{"b", "x"}, {"a", {1, {2}}}, {"c", true}}), R"({"b":"x","a":[1,[2]],"c":true})")
      << "members keep their order";
}

TEST(JsonWriter, TextIsAlwaysOneLineOfValidUtf8) {
  std::string text;
  AppendJsonString(text, "\n\r\xFF\xC0\xAF\xED\xA0\x80\xF4\x90\x80\x80 cut \xE2\x82");
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(Json::accept(text));
}

}  // namespace
}  // namespace mcp
