#include "mcp/json_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace mcp {
namespace {

std::string EveryAsciiByte() {
  std::string bytes;
  for (int c = 0; c < 128; ++c) bytes += static_cast<char>(c);
  return bytes;
}

TEST(JsonWriter, WritesWhatNlohmannWrites) {
  const Json value = {{"a", {1, -2, 2.5, true, nullptr}},
                      {"b", Json::object()},
                      {"c", Json::array()},
                      {"every", EveryAsciiByte()},
                      {"quote\"", "back\\slash \b\f\n\r\t\x01 é 😀"}};
  EXPECT_EQ(ToJson(value), value.dump());
}

TEST(JsonWriter, TextIsAlwaysOneLineOfValidUtf8) {
  std::string text;
  AppendJsonString(text, "\n\r\xFF\xC0\xAF\xED\xA0\x80\xF4\x90\x80\x80 cut \xE2\x82");
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(Json::accept(text));
}

TEST(JsonWriter, MembersKeepTheirOrder) {
  EXPECT_EQ(ToJson({{"b", "x"}, {"a", {1, {2}}}, {"c", true}}),
            R"({"b":"x","a":[1,[2]],"c":true})");
}

}  // namespace
}  // namespace mcp
