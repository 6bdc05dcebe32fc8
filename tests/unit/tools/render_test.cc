
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mcp/outcome.h"
#include "tools/tools.h"
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

TEST(CutBeginning, EndsWithTheLastLineThatFitsAndSaysHowToGoOn) {
  const struct {
    std::string text;
    bool is_whole;
    std::size_t max_bytes;
    std::string kept;
    const char* rest;
  } cases[] = {
      {"", true, 100'000, "", ""},
      {"no line end", true, 100'000, "no line end", ""},
      {Lines(2000), true, 100'000, Lines(2000), ""},
      {Lines(2001), true, 100'000, Lines(2000), "Go on with offset 2000;"},
      {"aaa\nbbb\nccc\n", false, 9, "aaa\nbbb\n", "Go on with offset 2;"},
      // no half character
      {"aaé" + std::string(100, 'x'), false, 3, "aa", "Go on after it with offset 1."},
  };
  for (const auto& given : cases) {
    std::string bytes = given.text;
    const std::string rest = CutBeginning(bytes, given.is_whole, given.max_bytes);
    EXPECT_THAT(rest, HasSubstr(given.rest));
    EXPECT_EQ(rest.empty(), *given.rest == '\0') << rest;
    EXPECT_EQ(bytes, given.kept);
  }
}

/// A kind of result in both styles: the structured content, and the text.
struct Rendered {
  const char* what;
  mcp::ToolResult (*render)(const mcp::ResultFormat&);
  const char* json;
  const char* text;
};

const ProcessState kRunning{.id = "p1", .running = true};
const ProcessState kKilled{.id = "p2", .running = false, .end = {137, "killed"}};

// clang-format off
const Rendered kRendered[] = {
    {"file", [](const auto& f) { return Render(FileContent{.text = "a\"\n", .rest = "[more]"}, f); },
     R"({"content":"a\"\n"})", "a\"\n[more]"},
    {"entries", [](const auto& f) { return Render(Entries{{{.name = "d", .attributes = {.type = guest::FileType::kDirectory, .permissions = 0755, .size = 7}}}}, f); },
     R"({"entries":[{"name":"d","size":7,"mode":2147484141,"time":"1970-01-01T00:00:00Z","is_dir":true}]})",
     "drwxr-xr-x         7 1970-01-01 00:00 d/\n"},
    {"no entries", [](const auto& f) { return Render(Entries{}, f); }, R"({"entries":[]})", "[no entries]"},
    {"matches", [](const auto& f) { return Render(Matches{.paths = {"/b", "/a"}}, f); },
     R"({"matches":["/b","/a"]})", "/b\n/a\n"},
    {"no matches", [](const auto& f) { return Render(Matches{}, f); }, R"({"matches":[]})", "[no matches]"},
    {"lines", [](const auto& f) { return Render(FoundLines{.lines = "a:1:x\n"}, f); },
     R"({"git_grep_output":"a:1:x\n"})", "a:1:x\n"},
    {"no lines", [](const auto& f) { return Render(FoundLines{}, f); }, R"({"git_grep_output":""})", "[no matches]"},
    {"command", [](const auto& f) { return Render(CommandEnd{"out\n", "", {0, ""}}, f); },
     R"({"stdout":"out\n","stderr":"","exit_code":0})", "out\n"},
    {"silent command", [](const auto& f) { return Render(CommandEnd{"", "", {0, ""}}, f); },
     R"({"stdout":"","stderr":"","exit_code":0})", "[no output]"},
    {"failed command", [](const auto& f) { return Render(CommandEnd{"out", "err\n", {3, "exit status 3"}}, f); },
     R"({"stdout":"out","stderr":"err\n","error":"exit status 3","exit_code":3})", "out\n[stderr]\nerr\n[exit status 3]"},
    {"killed command", [](const auto& f) { return Render(CommandEnd{"", "", {137, "signal: KILL"}}, f); },
     R"({"stdout":"","stderr":"","error":"signal: KILL","exit_code":137})", "[exit code 137: signal: KILL]"},
    {"stopped command", [](const auto& f) { return Render(CommandEnd{"half", "", {{}, "timed out"}}, f); },
     R"({"stdout":"half","stderr":"","error":"timed out"})", "half\n[timed out]"},
    {"state", [](const auto& f) { return Render(kKilled, f); },
     R"({"id":"p2","running":false,"error":"killed","exit_code":137})", "[p2 exited with 137: killed]"},
    {"output", [](const auto& f) { return Render(ProcessOutput{kRunning, {"x", 9, 2, 4}}, f); },
     R"({"id":"p1","running":true,"output":"x","next_offset":9,"remaining":4,"dropped":2})",
     "[2 bytes before are gone]\nx\n[p1 running; next_offset 9; 4 more bytes can be read now]"},
    {"end of a cut output", [](const auto& f) { return Render(ProcessOutput{{.id = "c1"}, {"x", 1, 0, 0}}, f); },
     R"({"id":"c1","output":"x","next_offset":1})", "x\n[end of c1]"},
    {"processes", [](const auto& f) { return Render(ProcessList{{kRunning, "make", "/w", {}}}, f); },
     R"({"processes":[{"id":"p1","running":true,"command":"make","directory":"/w","started":"1970-01-01T00:00:00.000Z"}]})",
     "p1 running: make (in /w, since 1970-01-01T00:00:00.000Z)\n"},
    {"no processes", [](const auto& f) { return Render(ProcessList{}, f); }, R"({"processes":[]})", "No process has been started."},
    {"replacements", [](const auto& f) { return Render(Written{.replacements = 2}, f); },
     R"({"replacements":2})", "[replacements: 2]"},
    {"written", [](const auto& f) { return Render(Written{}, f); }, "{}", "[written]"},
};
// clang-format on

TEST(Render, WritesEveryKindOfResultInBothStyles) {
  for (const Rendered& given : kRendered) {
    const mcp::ToolResult structured = given.render({});
    EXPECT_EQ(structured.style, mcp::ResultStyle::kStructured) << given.what;
    EXPECT_EQ(structured.content, given.json) << given.what;
    EXPECT_EQ(TextOf(given.render(kText)), given.text) << given.what;
    EXPECT_TRUE(structured.more_content.empty()) << given.what;
  }
}

TEST(Render, ReportsTheEndOfCommandsAndProcessesInBothStyles) {
  for (const mcp::ResultFormat& format : {mcp::ResultFormat(), kText}) {
    for (const mcp::ToolResult& result :
         {Render(CommandEnd{"", "", {137, "killed"}}, format), Render(kKilled, format),
          Render(ProcessOutput{kKilled, {}}, format)}) {
      EXPECT_EQ(result.exit_code, 137);
      EXPECT_EQ(result.error, "killed");
    }
  }
}

TEST(Render, LeavesOutEmptyNotes) {
  const mcp::ToolResult result = Render(Written{{"", "a note", ""}}, {});
  ASSERT_EQ(result.more_content.size(), 1U);
  EXPECT_EQ(result.more_content[0]["text"], "a note");
}

TEST(Render, SaysHowManyItemsDoNotFit) {
  const std::string text = TextOf(Render(Matches{.paths = {"/a", std::string(4000, 'b')}}, kText));
  EXPECT_THAT(text, StartsWith("/a\n[1 of 2 matches. The newest are shown"));
}

TEST(Render, ShowsTypesAndPermissionsAsGoAndLsDo) {
  using guest::FileType;
  const auto bit = [](int n) { return std::int64_t{1} << n; };
  const struct {
    FileType type;
    std::uint32_t permissions;
    std::int64_t go_mode;  ///< of io/fs.FileMode
    const char* letters;
  } cases[] = {
      {FileType::kRegular, 0644, 0644, "-rw-r--r--"},
      {FileType::kDirectory, 01777, bit(31) | bit(20) | 0777, "drwxrwxrwt"},
      {FileType::kSymlink, 0777, bit(27) | 0777, "lrwxrwxrwx"},
      {FileType::kFifo, 0600, bit(25) | 0600, "prw-------"},
      {FileType::kSocket, 0600, bit(24) | 0600, "srw-------"},
      {FileType::kBlockDevice, 0660, bit(26) | 0660, "brw-rw----"},
      {FileType::kCharacterDevice, 0666, bit(26) | bit(21) | 0666, "crw-rw-rw-"},
      {FileType::kUnknown, 0, bit(19), "?---------"},
      {FileType::kRegular, 06711, bit(23) | bit(22) | 0711, "-rws--s--x"},
      {FileType::kRegular, 07600, bit(23) | bit(22) | bit(20) | 0600, "-rwS--S--T"},
  };
  for (const auto& [type, permissions, go_mode, letters] : cases) {
    const Entries entries{{{"a b", {.type = type, .permissions = permissions, .size = 1234}}}};
    EXPECT_EQ(Structured(Render(entries, {}))["entries"][0]["mode"], go_mode) << letters;
    EXPECT_EQ(TextOf(Render(entries, kText)), std::string(letters) +
                                                  "      1234 1970-01-01 00:00 a b" +
                                                  (type == FileType::kDirectory ? "/\n" : "\n"));
  }
}

TEST(Render, ShowsTimesInUtc) {
  for (const auto& [seconds, time] :
       {std::pair(std::int64_t{951'782'400}, "2000-02-29T00:00:00Z"),
        std::pair(std::int64_t{4'294'967'295}, "2106-02-07T06:28:15Z")}) {
    const Entries entries{{{"a", {.modified = seconds}}}};
    EXPECT_EQ(Structured(Render(entries, {}))["entries"][0]["time"], time);
  }
}

TEST(Render, KeepsEachNameAndCommandOnItsLineOfText) {
  const std::string forged = "a\nb\x1b[2K";
  EXPECT_EQ(TextOf(Render(Matches{.paths = {"/" + forged}}, kText)), "/a\\x0ab\\x1b[2K\n");
  EXPECT_THAT(TextOf(Render(Entries{{{.name = forged, .attributes = {}}}}, kText)),
              EndsWith(" a\\x0ab\\x1b[2K\n"));
  EXPECT_THAT(TextOf(Render(ProcessList{{kRunning, forged, "/" + forged, {}}}, kText)),
              StartsWith("p1 running: a\\x0ab\\x1b[2K (in /a\\x0ab\\x1b[2K, since "));
}

/// What a result can hold at most fits into a message, whatever the bytes.
TEST(LimitsFor, BoundWhatIsFetchedSoThatItFits) {
  const FetchLimits limits = LimitsFor({}, {.max_output_bytes = kMaxOutputLimit});
  const std::string output(limits.output_bytes, '\x01');
  for (const mcp::ToolResult& result :
       {Render(CommandEnd{output, output, {127, std::string(2048, '"')}}, {}),
        Render(FoundLines{.lines = std::string(limits.search_bytes, '\x01')}, {}),
        Render(ProcessOutput{kRunning, {std::string(limits.process_bytes, '\x01')}}, {})}) {
    EXPECT_LT(mcp::ToolResultText(result, mcp::Era::kModern, {}).size(), mcp::kMaxMessageBytes);
  }
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

TEST_F(TextOfReadFile, OfALargeFileIsItsBeginningAndTheRestComesByRange) {
  const std::string text = Lines(200'000);
  Put("file", text);
  const std::string shown = TextOf(Read());
  EXPECT_LE(shown.size(), kText.text_bytes);
  const std::string mark = "Go on with offset ";
  const std::size_t next = std::stoul(shown.substr(shown.find(mark) + mark.size()));
  EXPECT_EQ(shown.substr(0, shown.rfind('[')), Lines(static_cast<int>(next)));
  EXPECT_EQ(shown.substr(0, shown.rfind('[')) + TextOf(Read({{"offset", next}})), text);
}

TEST_F(TextOfReadFile, OfALargeFileTakesNoMoreRoundTripsThanItsBeginning) {
  Put("file", Lines(2'000'000));
  const nlohmann::json arguments = {{"path", "/host/work/file"}};
  const std::string beginning = RoundTrips("read_file", arguments);
  Put("file", Lines(200'000));
  EXPECT_EQ(beginning, RoundTrips("read_file", arguments));
}

TEST_F(TextOfReadFile, HasNotesAndImagesBesideIt) {
  Put("file", "caf\xE9\n");
  const mcp::ToolResult text = Read();
  EXPECT_EQ(TextOf(text), "caf\xEF\xBF\xBD\n");
  EXPECT_EQ(text.more_content.size(), 1U);
  Put("file", "\x89PNG\r\n\x1A\n" + std::string(20'000, '\0'));
  const mcp::ToolResult image = Read();
  EXPECT_THAT(TextOf(image), StartsWith("PNG image"));
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
  FailAt(guest::Operation::kOpen, guest::FileErrorCode::kPermissionDenied);
  EXPECT_EQ(Error({{"path", "/host/work/file"}}), "permission denied: /host/work/file");
}

class TextOfTools : public SearchToolFixture {
 protected:
  TextOfTools() { format_ = kText; }

  std::string TextFrom(const std::string& tool, const nlohmann::json& arguments) {
    return TextOf(Call(ToolNamed(tool, *this), arguments));
  }
};

TEST_F(TextOfTools, OfACommandNamesTheIdOfWhatIsCut) {
  const std::string text =
      TextFrom("run_shell_command", {{"command", {"seq", "10000"}}, {"directory", kHost}});
  EXPECT_LE(text.size(), kText.text_bytes);
  EXPECT_THAT(text, StartsWith("1\n2\n"));
  EXPECT_THAT(text, HasSubstr("c1"));
  EXPECT_THAT(text, EndsWith("10000\n"));
}

TEST_F(TextOfTools, OfBothStreamsOfACommandFits) {
  const std::string text = TextFrom(
      "run_shell_command",
      {{"command", {"sh", "-c", "seq 10000; seq 10000 >&2; exit 3"}}, {"directory", kHost}});
  EXPECT_LE(text.size(), kText.text_bytes);
  EXPECT_THAT(text, EndsWith("10000\n[exit status 3]"));
}

}  // namespace
}  // namespace tools
