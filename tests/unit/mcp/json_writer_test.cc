#include "mcp/json_writer.h"

#include <gtest/gtest.h>

namespace mcp {
namespace {

using nlohmann::json;

std::string Escaped(std::string_view text, Escaping escaping) {
  std::string out;
  AppendEscaped(out, text, escaping);
  return out;
}

std::string EveryAsciiByte() {
  std::string bytes;
  for (int c = 0; c < 128; ++c) bytes += static_cast<char>(c);
  return bytes;
}

std::string Unquoted(const std::string& text) {
  return text.substr(1, text.size() - 2);
}

TEST(AppendEscaped, OnceIsTheContentOfAStringAndTwiceThatOfOnce) {
  const std::string text = EveryAsciiByte() + "é 😀";
  const std::string once = Unquoted(json(text).dump());
  EXPECT_EQ(Escaped(text, Escaping::kNone), text);
  EXPECT_EQ(Escaped(text, Escaping::kOnce), once);
  EXPECT_EQ(Escaped(text, Escaping::kTwice), Unquoted(json(once).dump()));
}

TEST(AppendEscaped, TextMayBeCutAnywhere) {
  const std::string text = "tab\there \"quoted\" \\ é 😀\x01 end";
  for (const Escaping escaping : {Escaping::kOnce, Escaping::kTwice}) {
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      EXPECT_EQ(Escaped(text.substr(0, cut), escaping) + Escaped(text.substr(cut), escaping),
                Escaped(text, escaping));
    }
  }
}

TEST(JsonWriter, WritesWhatNlohmannWrites) {
  const json value = {{"a", {1, -2, 2.5, true, nullptr}},
                      {"b", json::object()},
                      {"c", json::array()},
                      {"quote\"", "back\\slash \b\f\n\r\t\x01 é 😀"}};
  EXPECT_EQ(ToJson(value), value.dump());
}

TEST(JsonWriter, TextIsAlwaysOneLineOfValidUtf8) {
  std::string text;
  AppendJsonString(text, "\n\r\xFF\xC0\xAF\xED\xA0\x80\xF4\x90\x80\x80 cut \xE2\x82");
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(json::accept(text));
}

TEST(JsonWriter, ObjectWriterSeparatesMembers) {
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
