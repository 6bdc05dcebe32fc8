// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "mcp/outcome.h"
#include "tools/tools.h"
#include "unit/server/tools/tool_fixture.h"

namespace tools {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr mcp::ResultFormat kText{.style = mcp::ResultStyle::kText, .text_bytes = 4096};

/// A kind of result in both styles: the structured content, and the text.
struct Rendered {
  const char* what;
  mcp::ToolResult (*render)(const mcp::ResultFormat&);
  const char* json;
  const char* text;
};

/// In texts, each name and command stays on its line.
const std::string kForged = "a\nb\x1b[2K";

const ProcessState kRunning{.id = "p1", .running = true};
const ProcessState kKilled{.id = "p2", .running = false, .end = {137, "killed"}};

// clang-format off
const Rendered kRendered[] = {
    {"file", [](const auto& f) { return Render(FileContent{.text = "a\"\n", .rest = "[more]"}, f); },
     R"({"content":"a\"\n"})", "a\"\n[more]"},
    {"entries", [](const auto& f) { return Render(Entries{{{.name = "d", .attributes = {.type = guest::FileType::kDirectory, .permissions = 0755, .size = 7}}}}, f); },
     R"({"entries":[{"name":"d","size":7,"mode":2147484141,"time":"1970-01-01T00:00:00Z","is_dir":true}]})",
     "drwxr-xr-x         7 1970-01-01 00:00 d/\n"},
    {"leap day", [](const auto& f) { return Render(Entries{{{.name = kForged, .attributes = {.modified = 951'782'400}}}}, f); },
     R"({"entries":[{"name":"a\nb\u001b[2K","size":0,"mode":524288,"time":"2000-02-29T00:00:00Z","is_dir":false}]})",
     "?---------         0 2000-02-29 00:00 a\\x0ab\\x1b[2K\n"},
    {"time of 32 bits", [](const auto& f) { return Render(Entries{{{.name = "d", .attributes = {.modified = 4'294'967'295}}}}, f); },
     R"({"entries":[{"name":"d","size":0,"mode":524288,"time":"2106-02-07T06:28:15Z","is_dir":false}]})",
     "?---------         0 2106-02-07 06:28 d\n"},
    {"no entries", [](const auto& f) { return Render(Entries{}, f); }, R"({"entries":[]})", "[no entries]"},
    {"matches", [](const auto& f) { return Render(Matches{.paths = {"/b", "/a"}}, f); },
     R"({"matches":["/b","/a"]})", "/b\n/a\n"},
    {"forged match", [](const auto& f) { return Render(Matches{.paths = {kForged}}, f); },
     R"({"matches":["a\nb\u001b[2K"]})", "a\\x0ab\\x1b[2K\n"},
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
    {"NUL", [](const auto& f) { return Render(CommandEnd{std::string("a\0b\0\n", 5), "", {0, ""}}, f); },
     R"({"stdout":"a\u0000b\u0000\n","stderr":"","exit_code":0})", "a\\0b\\0\n"},
    {"stopped command", [](const auto& f) { return Render(CommandEnd{"half", "", {{}, "timed out"}}, f); },
     R"({"stdout":"half","stderr":"","error":"timed out"})", "half\n[timed out]"},
    {"state", [](const auto& f) { return Render(kKilled, f); },
     R"({"id":"p2","running":false,"error":"killed","exit_code":137})", "[p2 exited with 137: killed]"},
    {"output", [](const auto& f) { return Render(ProcessOutput{kRunning, {"x", 9, 2, 4}}, f); },
     R"({"id":"p1","running":true,"output":"x","next_offset":9,"remaining":4,"dropped":2})",
     "[… 2 bytes left out …]\nx\n[p1 running; next_offset 9; 4 more bytes can be read now]"},
    {"end of a cut output", [](const auto& f) { return Render(ProcessOutput{{.id = "c1"}, {"x", 1, 0, 0}}, f); },
     R"({"id":"c1","output":"x","next_offset":1})", "x\n[end of c1]"},
    {"processes", [](const auto& f) { return Render(ProcessList{{kRunning, "make", "/w", {}}}, f); },
     R"({"processes":[{"id":"p1","running":true,"command":"make","directory":"/w","started":"1970-01-01T00:00:00.000Z"}]})",
     "p1 running: make (in /w, since 1970-01-01T00:00:00.000Z)\n"},
    {"forged process", [](const auto& f) { return Render(ProcessList{{kRunning, kForged, kForged, {}}}, f); },
     R"({"processes":[{"id":"p1","running":true,"command":"a\nb\u001b[2K","directory":"a\nb\u001b[2K","started":"1970-01-01T00:00:00.000Z"}]})",
     "p1 running: a\\x0ab\\x1b[2K (in a\\x0ab\\x1b[2K, since 1970-01-01T00:00:00.000Z)\n"},
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

TEST(Render, AddsNotesUnlessTheyAreEmptyAndImages) {
  const FileContent image{.image = Image{"\x89PNG", "image/png"}, .notes = {"", "a note", ""}};
  for (const mcp::ResultFormat& format : {mcp::ResultFormat(), kText}) {
    EXPECT_EQ(nlohmann::json(Render(image, format).more_content),
              nlohmann::json::parse(R"([{"type": "text", "text": "a note"},
                                        {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}])"));
  }
}

TEST(Render, ShowsTypesAndPermissionsAsGoAndLsDo) {
  using guest::FileType;
  const auto bit = [](int n) { return std::int64_t{1} << n; };
  for (const auto& [type, permissions, go_mode, letters] :  // go_mode is io/fs.FileMode
       {std::tuple{FileType::kRegular, 0644U, std::int64_t{0644}, "-rw-r--r--"},
        {FileType::kDirectory, 01777U, bit(31) | bit(20) | 0777, "drwxrwxrwt"},
        {FileType::kSymlink, 0777U, bit(27) | 0777, "lrwxrwxrwx"},
        {FileType::kFifo, 0600U, bit(25) | 0600, "prw-------"},
        {FileType::kSocket, 0600U, bit(24) | 0600, "srw-------"},
        {FileType::kBlockDevice, 0660U, bit(26) | 0660, "brw-rw----"},
        {FileType::kCharacterDevice, 0666U, bit(26) | bit(21) | 0666, "crw-rw-rw-"},
        {FileType::kRegular, 06711U, bit(23) | bit(22) | 0711, "-rws--s--x"},
        {FileType::kRegular, 07600U, bit(23) | bit(22) | bit(20) | 0600, "-rwS--S--T"}}) {
    const Entries entries{{{"a b", {.type = type, .permissions = permissions, .size = 1234}}}};
    EXPECT_EQ(Structured(Render(entries, {}))["entries"][0]["mode"], go_mode) << letters;
    EXPECT_EQ(TextOf(Render(entries, kText)), std::string(letters) +
                                                  "      1234 1970-01-01 00:00 a b" +
                                                  (type == FileType::kDirectory ? "/\n" : "\n"));
  }
}

/// What a result can hold at most fits into a message, whatever the bytes.
TEST(LimitsFor, BoundWhatIsFetchedSoThatItFits) {
  const FetchLimits limits = LimitsFor({});
  const std::string output(limits.output_bytes, '\x01');
  for (const mcp::ToolResult& result :
       {Render(CommandEnd{output, output, {127, std::string(2048, '"')}}, {}),
        Render(FoundLines{.lines = std::string(limits.search_bytes, '\x01')}, {}),
        Render(ProcessOutput{kRunning, {std::string(limits.process_bytes, '\x01')}}, {})}) {
    EXPECT_LT(mcp::ToolResultText(result, mcp::Era::kModern, {}).size(), mcp::kMaxMessageBytes);
  }
}

TEST(LimitsFor, LetsATextHaveItsLastLine) {
  const FetchLimits limits = LimitsFor(kText);
  const std::size_t room = kText.text_bytes - 512;
  EXPECT_EQ(limits.file_bytes, room);
  EXPECT_EQ(limits.process_bytes, room);
  EXPECT_EQ(limits.search_bytes, room);
}

using TextOfACommand = ToolTest;

TEST_F(TextOfACommand, HasTheEndOfBothStreamsAndTheIdOfWhatIsCut) {
  format = kText;
  const std::string script = "seq 10000; seq 10000 >&2; exit 3";
  const std::string text = TextOf(
      Call("run_shell_command", {{"command", {"sh", "-c", script}}, {"directory", "/work"}}));
  EXPECT_LE(text.size(), kText.text_bytes);
  EXPECT_THAT(text, StartsWith("1\n2\n"));
  EXPECT_THAT(text, HasSubstr("c1"));
  EXPECT_THAT(text, HasSubstr("10000\n[stderr]"));
  EXPECT_THAT(text, EndsWith("10000\n[exit status 3]"));
}

}  // namespace
}  // namespace tools
