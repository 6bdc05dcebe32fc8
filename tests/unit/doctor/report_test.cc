#include "doctor/report.h"

#include <gtest/gtest.h>

namespace doctor {
namespace {

using std::chrono::milliseconds;

const Result kGood = {"connect", Passed("sshd lets me in"), milliseconds(12)};
const Result kSlow = {"shell", Warning("slow", "make it faster"), milliseconds(3250)};
const Result kBad = {"key", Failed("no key\nat all", "make one"), milliseconds(0)};
const Result kSkipped = {"sftp", Skipped("cannot be tried: see key")};

TEST(Report, HasALineForEachCheckAndItsAdvice) {
  EXPECT_EQ(ResultLines(kGood), "ok   connect        sshd lets me in (12 ms)\n");
  EXPECT_EQ(ResultLines(kSlow),
            "warn shell          slow (3.250s)\n"
            "                    -> make it faster\n");
  EXPECT_EQ(ResultLines(kBad),
            "FAIL key            no key at all (0 ms)\n"
            "                    -> make one\n");
  EXPECT_EQ(ResultLines(kSkipped), "skip sftp           cannot be tried: see key\n");
}

TEST(Report, LetsNothingThatAGuestPrintedDriveTheTerminal) {
  const Result result = {"shell", Warning("\x1b[2Jprints", "x"), milliseconds(0)};
  EXPECT_EQ(ResultLines(result).find('\x1b'), std::string::npos);
}

TEST(Report, EndsWithASummary) {
  EXPECT_EQ(SummaryLine({kGood}), "Nothing failed, 1 passed.\n");
  EXPECT_EQ(SummaryLine({kGood, kSlow, kBad, kSkipped}),
            "1 failed, 1 passed, 1 with a warning, 1 skipped.\n");
  EXPECT_FALSE(AnyFailed({kGood, kSlow}));
  EXPECT_TRUE(AnyFailed({kGood, kBad}));
}

TEST(Report, IsOneJsonObject) {
  const nlohmann::json report = ReportJson("vm", {kGood, kBad, kSkipped});
  EXPECT_EQ(report.at("instance"), "vm");
  EXPECT_EQ(report.at("passed"), false);
  EXPECT_EQ(report.at("checks"), nlohmann::json::parse(R"([
  {"name": "connect", "result": "passed", "text": "sshd lets me in", "duration_ms": 12},
  {"name": "key", "result": "failed", "text": "no key\nat all", "advice": "make one",
   "duration_ms": 0},
  {"name": "sftp", "result": "skipped", "text": "cannot be tried: see key", "duration_ms": 0}
])"));
  EXPECT_EQ(ReportJson("vm", {kGood, kSlow}).at("passed"), true);
}

TEST(Report, JsonIsValidWhateverTheBytes) {
  const Result result = {"mounts", Passed("/caf\xe9"), milliseconds(0)};
  EXPECT_NO_THROW((void)ReportJson("\xff", {result}).dump());
}

}  // namespace
}  // namespace doctor
