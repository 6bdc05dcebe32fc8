// Whatever a command prints, the response is one valid line of JSON, in bounded memory.

#include <gmock/gmock.h>

#include <chrono>
#include <iostream>

#include "integration/command_fixture.h"
#include "testing/sanitizers.h"

namespace integration {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using CommandOutputBytes = CommandTest;

TEST_F(CommandOutputBytes, AreReturnedAsValidText) {
  struct Case {
    const char* printed;  ///< format for printf(1)
    std::string expected;
  };
  const std::vector<Case> cases = {
      {R"(\033[2Jx)", "\x1b[2Jx"},
      {R"(\033]0;title\007x)", "\x1b]0;title\x07x"},
      {R"(\033]8;;http://a\033\\x\033]8;;\033\\)", "\x1b]8;;http://a\x1b\\x\x1b]8;;\x1b\\"},
      {R"(\342\200\252\342\200\256)", "\u202a\u202e"},                  // bidirectional overrides
      {R"(\342\201\246\342\201\251)", "\u2066\u2069"},                  // and isolates
      {R"(\363\240\200\200\363\240\201\277)", "\U000E0000\U000E007F"},  // tags
      {R"(a\377\300\200b\355\240\200)",
       "a\uFFFD\uFFFD\uFFFD"
       "b\uFFFD\uFFFD\uFFFD"},
      {R"(a\000b)", std::string("a\0b", 3)}};
  StartGuest();
  for (const Case& c : cases) {
    const std::string print = "printf '" + std::string(c.printed) + "'";
    const json result = Shell(print + "; " + print + " >&2");
    EXPECT_EQ(result.value("stdout", "?"), c.expected) << c.printed;
    EXPECT_EQ(result.value("stderr", "?"), c.expected) << c.printed;
    EXPECT_EQ(result.value("exit_code", -1), 0);
  }
}

class CommandOutputSize : public CommandTest {
 protected:
  static constexpr std::size_t kKept = std::size_t{256} * 1024;
  /// Far below what is printed, far above what is kept. AddressSanitizer holds back what is freed
  /// (quarantine_size_mb, 256), with its own marks.
  static constexpr long kMaximumKilobytes = testing_support::kAddressSanitizer ? 700'000 : 200'000;
  /// More than the longest line between the halves.
  static constexpr std::size_t kNote = 200;

  void ExpectBounded(const json& result) {
    EXPECT_LE(result.value("stdout", "").size(), kKept + kNote);
    EXPECT_THAT(result.value("stdout", ""), HasSubstr(" bytes left out"));
    const long most = StatusOf(client().process().pid(), "VmHWM");
    EXPECT_LE(most, kMaximumKilobytes);
    std::cout << "resident at most " << most << " kB\n";
  }
  json RunLong(const std::string& script) {
    // Half a minute under ThreadSanitizer on a machine that has nothing else to do.
    constexpr std::chrono::minutes kPatience{4};
    const json response = client().WaitForResponse(BeginShell(script), kPatience);
    return response.at("result").at("structuredContent");
  }
};

TEST_F(CommandOutputSize, OneGibibyte) {
  StartGuest();
  const json result = RunLong("yes 0123456789abcdef | head -c 1073741824; echo end");
  EXPECT_THAT(result.value("stdout", ""), StartsWith("0123456789abcdef\n"));
  EXPECT_TRUE(result.value("stdout", "").ends_with("end\n"));
  ExpectBounded(result);
}

TEST_F(CommandOutputSize, ALineOfAHundredMebibytes) {
  StartGuest();
  const json result = RunLong("printf begin; head -c 104857600 /dev/zero | tr '\\0' x; printf end");
  EXPECT_THAT(result.value("stdout", ""), StartsWith("beginx"));
  EXPECT_TRUE(result.value("stdout", "").ends_with("xend"));
  ExpectBounded(result);
}

}  // namespace
}  // namespace integration
