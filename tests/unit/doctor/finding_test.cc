#include "doctor/finding.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace doctor {
namespace {

using std::chrono::milliseconds;

Finding Named(const std::string& check, Finding finding, milliseconds duration = {}) {
  finding.check = check;
  finding.duration = duration;
  return finding;
}

const Finding kGood = Named("connect", Passed("sshd lets me in"), milliseconds(12));
const Finding kWarned = Named("shell", Warning("prints", "silence it"), milliseconds(3250));
const Finding kBad = Named("status", Failed("not\nrunning", "start it"));
const Finding kSkipped = Named("server", Skipped("cannot be tried: see status"));

TEST(Report, HasALineForEachCheckAndItsAdvice) {
  EXPECT_EQ(FindingLines(kGood), "ok   connect        sshd lets me in (12 ms)\n");
  EXPECT_EQ(FindingLines(kWarned),
            "warn shell          prints (3250 ms)\n"
            "                    -> silence it\n");
  EXPECT_EQ(FindingLines(kBad),
            "FAIL status         not running (0 ms)\n"
            "                    -> start it\n");
  EXPECT_EQ(FindingLines(kSkipped), "skip server         cannot be tried: see status\n");
}

TEST(Report, LetsNothingThatAGuestPrintedDriveTheTerminal) {
  EXPECT_EQ(FindingLines(Warning("\x1b[2Jprints", "x")).find('\x1b'), std::string::npos);
}

TEST(Report, EndsWithASummary) {
  EXPECT_EQ(SummaryLine({kGood}), "1 passed.\n");
  EXPECT_EQ(SummaryLine({kGood, kWarned, kBad, kSkipped}),
            "1 passed, 1 warning, 1 failed, 1 skipped.\n");
  EXPECT_FALSE(AnyFailed({kGood, kWarned}));
  EXPECT_TRUE(AnyFailed({kGood, kBad}));
}

TEST(Report, IsOneJsonObject) {
  const nlohmann::json report = ReportJson("vm", {kGood, kBad, kSkipped});
  EXPECT_EQ(report.at("instance"), "vm");
  EXPECT_EQ(report.at("passed"), false);
  EXPECT_EQ(report.at("checks"), nlohmann::json::parse(R"([
  {"name": "connect", "result": "passed", "text": "sshd lets me in", "duration_ms": 12},
  {"name": "status", "result": "failed", "text": "not\nrunning", "advice": "start it",
   "duration_ms": 0},
  {"name": "server", "result": "skipped", "text": "cannot be tried: see status", "duration_ms": 0}
])"));
  EXPECT_EQ(ReportJson("vm", {kGood, kWarned}).at("passed"), true);
}

}  // namespace
}  // namespace doctor
