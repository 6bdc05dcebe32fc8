#include "mcp/json_writer.h"

#include <gtest/gtest.h>

#include "mcp/json_reader.h"

namespace mcp {
namespace {

using nlohmann::json;

TEST(JsonWriter, WritesWhatNlohmannWrites) {
  const json value = {{"a", {1, -2, 2.5, true, nullptr}},
                      {"b", json::object()},
                      {"c", json::array()},
                      {"quote\"", "back\\slash \b\f\n\r\t\x01 é 😀"}};
  EXPECT_EQ(ToJson(value), value.dump());
}

TEST(JsonWriter, TextIsAlwaysOneLineOfValidUtf8) {
  const std::string bytes = "\n\r\xFF\xC0\xAF\xED\xA0\x80\xF4\x90\x80\x80 cut \xE2\x82";
  std::string text;
  AppendJsonString(text, bytes);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(json::accept(text));
}

TEST(JsonWriter, EveryByteSurvivesAReadAgain) {
  std::string ascii;
  for (int c = 0; c < 128; ++c) ascii += static_cast<char>(c);
  EXPECT_EQ(json::parse(ToJson(ascii)), ascii);
}

TEST(JsonWriter, EscapesAreFoundAtEveryPlaceOfAWord) {
  for (const std::string special : {"\"", "\\", "\n", "\x1f", "\x7f", "!", "é"}) {
    for (std::size_t place = 0; place < 20; ++place) {
      const json text = std::string(place, 'x') + special + std::string(20 - place, ' ');
      EXPECT_EQ(ToJson(text), text.dump());
    }
  }
}

TEST(JsonWriter, BigIntegersKeepTheirDigits) {
  const std::string text = R"({"n":[123456789012345678901234567890,-18446744073709551616]})";
  EXPECT_EQ(ToJson(ParseJson(text).value), text);
}

TEST(JsonWriter, ObjectWriterPutsCommasBetween) {
  std::string text;
  ObjectWriter object(text);
  object.Member("a", std::string_view("x"));
  object.RawMember("b", "[1]");
  object.Member("c", json(true));
  object.End();
  EXPECT_EQ(text, R"({"a":"x","b":[1],"c":true})");
}

}  // namespace
}  // namespace mcp
