#include "tools/text_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/tools/file_tool_fixture.h"
#include "unit/tools/search_tool_fixture.h"

namespace tools {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr mcp::ResultFormat kText{.style = mcp::ResultStyle::kText, .text_bytes = 4096};

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + '\n';
  return text;
}

TEST(CutBeginning, LeavesAFileThatFits) {
  for (const std::string& text : {std::string(), Lines(2000), std::string("no line end")}) {
    std::string bytes = text;
    EXPECT_EQ(CutBeginning(bytes, true, 100'000), "");
    EXPECT_EQ(bytes, text);
  }
}

TEST(CutBeginning, ShowsAtMostTwoThousandLines) {
  std::string bytes = Lines(2001);
  EXPECT_THAT(CutBeginning(bytes, true, 100'000), HasSubstr("Go on with offset 2000;"));
  EXPECT_EQ(bytes, Lines(2000));
}

TEST(CutBeginning, EndsWithTheLastLineThatFits) {
  std::string bytes = "aaa\nbbb\nccc\n";
  EXPECT_THAT(CutBeginning(bytes, false, 9), HasSubstr("Go on with offset 2;"));
  EXPECT_EQ(bytes, "aaa\nbbb\n");
}

TEST(CutBeginning, ShowsTheBeginningOfALongFirstLine) {
  std::string bytes = "aaé" + std::string(100, 'x');
  EXPECT_THAT(CutBeginning(bytes, false, 3), HasSubstr("Go on after it with offset 1."));
  EXPECT_EQ(bytes, "aa") << "no half character";
}

TEST(LinesText, SaysHowManyItemsDoNotFit) {
  EXPECT_EQ(LinesText({"a", "b"}, 100, "matches", "Narrow it."), "a\nb\n");
  EXPECT_EQ(LinesText({"aaa", "bbb", "ccc"}, 8, "matches", "Narrow it."),
            "aaa\nbbb\n[2 of 3 matches. Narrow it.]");
  EXPECT_EQ(LinesText({}, 100, "matches", "Narrow it."), "[no matches]");
}

TEST(EntryLine, LooksLikeALineOfLs) {
  const auto line = [](const std::string& name, guest::FileType type, std::uint32_t permissions) {
    return EntryLine({name, {.type = type, .permissions = permissions, .size = 1234}});
  };
  EXPECT_EQ(line("a b", guest::FileType::kRegular, 0644),
            "-rw-r--r--      1234 1970-01-01 00:00 a b");
  EXPECT_EQ(line("d", guest::FileType::kDirectory, 01777),
            "drwxrwxrwt      1234 1970-01-01 00:00 d/");
  EXPECT_THAT(line("x", guest::FileType::kRegular, 06711), StartsWith("-rws--s--x "));
  EXPECT_THAT(line("two\nlines", guest::FileType::kSymlink, 0777), EndsWith(" two\\x0alines"));
}

TEST(CommandText, EndsWithWhatIsNotOutput) {
  EXPECT_EQ(CommandText("out\n", "", 0, ""), "out\n");
  EXPECT_EQ(CommandText("", "", 0, ""), "[no output]");
  EXPECT_EQ(CommandText("out", "err\n", 3, "exit status 3"), "out\n[stderr]\nerr\n[exit status 3]");
  EXPECT_EQ(CommandText("", "", 137, "signal: KILL"), "[exit code 137: signal: KILL]");
  EXPECT_EQ(CommandText("half", "", {}, "timed out"), "half\n[timed out]");
}

class TextOfReadFile : public FileToolTest {
 protected:
  TextOfReadFile() : FileToolTest("read_file") { format = kText; }

  mcp::ToolResult Read(const nlohmann::json& more = nlohmann::json::object()) {
    nlohmann::json arguments = {{"path", "/host/work/file"}};
    arguments.update(more);
    return Call(arguments);
  }
};

TEST_F(TextOfReadFile, IsTheContent) {
  const std::string text = "a \"quoted\" \\line\\\n\ttab";
  Put("file", text);
  const mcp::ToolResult result = Read();
  EXPECT_EQ(result.text, text);
  EXPECT_TRUE(result.structured.is_null());
}

TEST_F(TextOfReadFile, OfALargeFileIsItsBeginningAndTheRestComesByRange) {
  const std::string text = Lines(200'000);
  Put("file", text);
  const std::string shown = Read().text.value();
  EXPECT_LE(shown.size(), kText.text_bytes);
  const std::string mark = "Go on with offset ";
  const std::size_t next = std::stoul(shown.substr(shown.find(mark) + mark.size()));
  EXPECT_EQ(shown.substr(0, shown.rfind('[')), Lines(static_cast<int>(next)));
  EXPECT_EQ(shown.substr(0, shown.rfind('[')) + Read({{"offset", next}}).text.value(), text);
}

TEST_F(TextOfReadFile, OfALargeFileTakesNoMoreRoundTripsThanItsBeginning) {
  Put("file", Lines(2'000'000));
  const std::string beginning = RoundTrips({{"path", "/host/work/file"}});
  Put("file", Lines(200'000));
  EXPECT_EQ(beginning, RoundTrips({{"path", "/host/work/file"}}));
}

TEST_F(TextOfReadFile, HasNotesAndImagesBesideIt) {
  Put("file", "caf\xE9\n");
  const mcp::ToolResult text = Read();
  EXPECT_EQ(text.text, "caf\xEF\xBF\xBD\n");
  EXPECT_EQ(text.more_content.size(), 1U);
  Put("file", "\x89PNG\r\n\x1A\n" + std::string(20'000, '\0'));
  const mcp::ToolResult image = Read();
  EXPECT_THAT(image.text.value(), StartsWith("PNG image"));
  EXPECT_EQ(image.more_content.at(0).at("type"), "image");
}

TEST_F(TextOfReadFile, DoesNotTakeACutCharacterForAnotherEncoding) {
  std::string text;
  while (text.size() < 3 * kText.text_bytes) text += "é";
  Put("file", "x" + text);
  EXPECT_TRUE(Read().more_content.empty());
}

TEST_F(TextOfReadFile, ErrorsNameThePath) {
  EXPECT_EQ(Error({{"path", "/host/work/none"}}), "file does not exist: /host/work/none");
  Put("file", "");
  guest->set_hook([](testing_support::Operation operation, const std::string& path) {
    if (operation == testing_support::Operation::kOpen) {
      throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "open", path, "");
    }
  });
  EXPECT_EQ(Error({{"path", "/host/work/file"}}), "permission denied: /host/work/file");
}

class TextOfTools : public SearchToolFixture {
 protected:
  TextOfTools() { format_ = kText; }

  Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) override {
    Workspace workspace = SearchToolFixture::Acquire(context, progress);
    workspace.shell = "/bin/sh";
    return workspace;
  }

  std::string TextOf(const std::string& tool, const nlohmann::json& arguments) {
    return Call(*ToolNamed(tool, *this), arguments).text.value();
  }
};

TEST_F(TextOfTools, IsALinePerPathMatchOrEntry) {
  Write("quotes.txt", "a \"quoted\" line\n");
  EXPECT_EQ(TextOf("glob", {{"pattern", "quotes.*"}}), Host("quotes.txt") + "\n");
  EXPECT_EQ(TextOf("glob", {{"pattern", "none.*"}}), "[no matches]");
  EXPECT_EQ(TextOf("search_file_content", {{"pattern", "quoted"}}),
            "quotes.txt:1:a \"quoted\" line\n");
  EXPECT_EQ(TextOf("search_file_content", {{"pattern", "none"}}), "[no matches]");
  EXPECT_THAT(TextOf("list_directory", {{"path", kHost}}), HasSubstr(" quotes.txt\n"));
}

TEST_F(TextOfTools, OfACommandNamesTheIdOfWhatIsCut) {
  const std::string text =
      TextOf("run_shell_command", {{"command", {"seq", "10000"}}, {"directory", kHost}});
  EXPECT_LE(text.size(), kText.text_bytes);
  EXPECT_THAT(text, StartsWith("1\n2\n"));
  EXPECT_THAT(text, HasSubstr("c1"));
  EXPECT_THAT(text, EndsWith("10000\n"));
}

TEST_F(TextOfTools, OfBothStreamsOfACommandFits) {
  const std::string text =
      TextOf("run_shell_command",
             {{"command", {"sh", "-c", "seq 10000; seq 10000 >&2; exit 3"}}, {"directory", kHost}});
  EXPECT_LE(text.size(), kText.text_bytes);
  EXPECT_THAT(text, EndsWith("10000\n[exit status 3]"));
}

}  // namespace
}  // namespace tools
