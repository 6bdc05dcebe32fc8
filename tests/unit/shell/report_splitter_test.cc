#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shell/resident_script.h"

namespace shell {
namespace {

/// The output of a splitter that gets `stream` in pieces; reports in angle brackets.
std::string Split(std::string_view stream, std::size_t piece) {
  ReportSplitter splitter("MARK");
  std::string seen;
  const auto on_output = [&](std::string_view own) { seen += own; };
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    splitter.Feed(stream.substr(at, piece), on_output,
                  [&](std::string_view words) { seen.append("<").append(words).append(">"); });
  }
  splitter.Finish(on_output);
  return seen;
}

TEST(ReportSplitter, FindsReportsInAnyPieces) {
  const std::string longest(100, 'x');
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", ""},
      {"MARK\n", "<>"},
      {"MARK ready\n", "<ready>"},
      {"outMARK ended 3\nMARK idle\nlate", "out<ended 3><idle>late"},
      {"MARMARK 0\n", "MAR<0>"},
      {"MMAMARMARK\nMAR", "MMAMAR<>MAR"},
      {"MARK" + longest, longest},
      {"MARK 0", "MARK 0"},
  };
  for (const auto& [stream, expected] : cases) {
    for (std::size_t piece = 1; piece <= stream.size() + 1; ++piece) {
      EXPECT_EQ(Split(stream, piece), expected) << stream << " in pieces of " << piece;
    }
  }
}

TEST(ReportSplitter, HoldsBackOnlyTheBeginningOfAReport) {
  ReportSplitter splitter("MARK");
  std::string seen;
  splitter.Feed(
      "progress 5% MA", [&](std::string_view own) { seen += own; }, [](std::string_view) {});
  EXPECT_EQ(seen, "progress 5% ");
}

}  // namespace
}  // namespace shell
