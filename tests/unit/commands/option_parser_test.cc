#include "commands/option_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/commands.h"

namespace commands {
namespace {

using Words = std::vector<std::string>;

OptionParser MakeParser() {
  OptionParser parser("serve", "Serve", "[INSTANCE]", 1);
  parser.AddList("root", "A directory", "DIR");
  return parser;
}

TEST(OptionParser, ReadsOptionsAndPositionalArgumentsInAnyOrder) {
  OptionParser parser = MakeParser();
  const auto result = parser.Parse({"--root", "/a", "vm", "--root=/b"});
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)["root"].as<Words>(), (Words{"/a", "/b"}));
  EXPECT_EQ(result->unmatched(), Words{"vm"});
}

TEST(OptionParser, AllowsCommasInValuesAndEmptyValues) {
  for (const char* value : {"/a,b", ""}) {
    OptionParser parser = MakeParser();
    const auto result = parser.Parse({"--root", value});
    ASSERT_TRUE(result);
    EXPECT_EQ((*result)["root"].as<Words>(), Words{value});
  }
}

TEST(OptionParser, FlagsMayBeSetToFalse) {
  const auto is_set = [](const Words& words) {
    OptionParser parser = MakeParser();
    parser.AddOptions()("trust", "Do not ask");
    const auto result = parser.Parse(words);
    return result && (*result)["trust"].as<bool>();
  };
  EXPECT_TRUE(is_set({"--trust"}));
  EXPECT_FALSE(is_set({"--trust=false"}));
  EXPECT_FALSE(is_set({}));
}

TEST(OptionParser, DoubleDashEndsTheOptions) {
  OptionParser parser = MakeParser();
  const auto result = parser.Parse({"--", "--root"});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->unmatched(), Words{"--root"});
}

TEST(OptionParser, PrintsHelp) {
  OptionParser parser = MakeParser();
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parser.Parse({"--help"}));
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_NE(help.find("limactl mcp serve [OPTIONS] [INSTANCE]"), std::string::npos) << help;
  EXPECT_NE(help.find("--root DIR"), std::string::npos) << help;
}

TEST(OptionParser, RefusesUnknownOptionsMissingValuesAndTooManyArguments) {
  for (const Words& words :
       {Words{"--nonsense"}, Words{"-x"}, Words{"--root"}, Words{"one", "two"}}) {
    OptionParser parser = MakeParser();
    EXPECT_THROW(parser.Parse(words), UsageError) << words[0];
  }
}

TEST(OptionParser, OnlyListsMayBeRepeated) {
  for (const Words& words :
       {Words{"--audit", "a", "--audit=a"}, Words{"--start", "--start=false"}}) {
    OptionParser parser = MakeParser();
    parser.AddOptions()("audit", "A file", cxxopts::value<std::string>())("start", "A flag");
    EXPECT_THAT([&] { (void)parser.Parse(words); },
                testing::ThrowsMessage<UsageError>(
                    testing::HasSubstr(words.front() + " is given more than once")));
  }
}

}  // namespace
}  // namespace commands
