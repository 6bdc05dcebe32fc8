// SPDX-License-Identifier: Apache-2.0
// Plays the suites of tests/suites. --rewrite writes what came into the files.

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>

#include "suites/runner/suite.h"
#include "suites/runner/world.h"
#include "testing/settings.h"

namespace suites {
namespace {

using Variables = std::map<std::string, std::string>;

class SuiteTest : public ::testing::Test {
 public:
  SuiteTest(const Suite& suite, Case& test, Variables variables)
      : suite_(suite), test_(test), variables_(std::move(variables)) {}

  void TestBody() override {
    World world;
    try {
      for (Step step : suite_.head) Play(world, step, true);
      for (Step& step : test_.steps) Play(world, step, false);
      if (const Lines more = world.Stop(); !more.empty()) Fail("unread: " + more.front());
    } catch (const World::Skip& skip) {
      std::cout << "SKIPPED " << test_.name << ": " << skip.reason << std::endl;
      GTEST_SKIP() << skip.reason;
    } catch (const std::exception& error) {
      Fail(error.what());
    }
  }

 private:
  void Play(World& world, Step& step, bool is_head) {
    line_ = step.line;
    Step filled = step;
    Fill(filled.text);
    for (std::string& line : filled.expected) Fill(line);
    Lines came = world.Run(filled);
    const bool failed = !came.empty() && came.back().starts_with("exit ");
    if (is_head && !failed) came = filled.expected;
    Comparison comparison = Compare(filled.expected, came, step.expected);
    if (comparison.is_same) return;
    Fail("expected (-) and came (+):\n" + comparison.diff);
    step.came = std::move(comparison.rewritten);
  }

  void Fill(std::string& text) const {
    for (const auto& [name, value] : variables_) ReplaceWord(text, "$" + name, value);
  }

  void Fail(const std::string& what) const {
    std::string where = suite_.file.string() + ":" + std::to_string(line_);
    for (const auto& [name, value] : variables_) where += " (" + name + "=" + value + ")";
    ADD_FAILURE() << where << ": " << suite_.lines.at(line_ - 1) << "\n" << what;
  }

  const Suite& suite_;
  Case& test_;
  const Variables variables_;
  std::size_t line_ = 0;
};

/// Adds the values of an "each" to each set of variables.
std::vector<Variables> WithEach(const std::vector<Variables>& all, const Step& step) {
  if (step.keyword != "each") return all;
  const std::size_t colon = step.text.find(':');
  std::vector<Variables> longer;
  for (const Variables& variables : all) {
    for (const std::string& value : Words(step.text.substr(colon + 1))) {
      longer.push_back(variables);
      longer.back()[step.text.substr(0, colon)] = value;
    }
  }
  return longer;
}

void Register(const Suite& suite, Case& test) {
  std::vector<Variables> all(1);
  all = std::accumulate(suite.head.begin(), suite.head.end(), all, WithEach);
  all = std::accumulate(test.steps.begin(), test.steps.end(), all, WithEach);
  for (const Variables& variables : all) {
    std::string name = test.name;
    for (const auto& [variable, value] : variables) name += " " + value;
    // As gtest and CMake need it.
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    ::testing::RegisterTest(
        suite.file.stem().c_str(), name.c_str(), nullptr, nullptr, suite.file.c_str(), 1,
        [&suite, &test, variables] { return new SuiteTest(suite, test, variables); });
  }
}

}  // namespace
}  // namespace suites

/// suite_test [--rewrite] [FILE…]: all files, or these.
int main(int argc, char** argv) try {
  testing_support::LeaveOutSettings();
  ::testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> files(argv + 1, argv + argc);
  const bool is_rewriting = std::erase(files, "--rewrite") > 0;
  if (files.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(SOURCE "/tests/suites")) {
      if (entry.path().extension() == ".txt") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  std::vector<suites::Suite> all;
  std::ranges::transform(files, std::back_inserter(all), suites::ReadSuite);
  for (suites::Suite& suite : all) {
    for (suites::Case& test : suite.tests) suites::Register(suite, test);
  }
  const int status = RUN_ALL_TESTS();
  if (is_rewriting) std::ranges::for_each(all, suites::Rewrite);
  return status;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
