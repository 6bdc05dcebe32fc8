// Plays the suites of tests/suites. --rewrite writes what came into the files.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "suites/runner/lines.h"
#include "suites/runner/suite.h"
#include "suites/runner/world.h"
#include "testing/files.h"

namespace suites {
namespace {

namespace fs = std::filesystem;
using Variables = std::map<std::string, std::string>;

/// The files as they are rewritten, if they are.
class Rewriting {
 public:
  explicit Rewriting(bool is_wanted) : is_wanted_(is_wanted) {}
  void Add(const fs::path& file, const Step& step, std::vector<std::string> lines) {
    if (is_wanted_) files_[file].insert_or_assign(step.line, std::pair(step, std::move(lines)));
  }
  void Write() const {
    for (const auto& [path, steps] : files_) {
      std::vector<std::string> lines;
      std::istringstream text(testing_support::ReadFile(path));
      for (std::string line; std::getline(text, line);) lines.push_back(line);
      for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        Rewrite(lines, step->second.first, step->second.second);
      }
      std::ofstream out(path);
      for (const std::string& line : lines) out << line << "\n";
    }
  }

 private:
  bool is_wanted_;
  std::map<fs::path, std::map<std::size_t, std::pair<Step, std::vector<std::string>>>> files_;
};

class SuiteTest : public ::testing::Test {
 public:
  SuiteTest(const Suite& suite, const Case& test, Variables variables, Rewriting& rewriting)
      : suite_(suite), test_(test), variables_(std::move(variables)), rewriting_(rewriting) {}

  void TestBody() override {
    World world(LIMACTL_MCP_PROGRAM);
    try {
      for (const Step& step : suite_.head) Play(world, step, true);
      for (const Step& step : test_.steps) Play(world, step, false);
      line_ = test_.line;
      world.Stop();
    } catch (const World::Skip& skip) {
      std::cout << "SKIPPED " << test_.name << ": " << skip.reason << std::endl;
      GTEST_SKIP() << skip.reason;
    } catch (const std::exception& error) {
      Fail(error.what());
    }
  }

 private:
  void Play(World& world, const Step& step, bool in_head) {
    line_ = step.line;
    Step filled = step;
    Fill(filled.text);
    for (std::string& line : filled.expected) Fill(line);
    const std::vector<std::string> came = world.Run(filled);
    if (in_head) {
      // What it prints is of no interest.
      if (!came.empty() && came.back().starts_with("exit ")) Fail(Joined(came));
      return;
    }
    std::vector<Change> changes = Compare(filled.expected, came);
    if (AreSame(changes)) return;
    Fail("expected (-) and came (+):\n" + Diff(changes));
    // The file keeps the names of variables.
    auto written = step.expected.begin();
    for (Change& change : changes) {
      if (change.mark != '+') change.line = *written++;
    }
    rewriting_.Add(suite_.file, step, Rewritten(changes));
  }

  void Fill(std::string& text) const {
    for (const auto& [name, value] : variables_) ReplaceWord(text, "$" + name, value);
  }

  static std::string Joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  void Fail(const std::string& what) const {
    std::string variables;
    for (const auto& [name, value] : variables_) variables += " (" + name + "=" + value + ")";
    const std::string where = suite_.file.string() + ":" + std::to_string(line_);
    ADD_FAILURE() << where << variables << ": " << LineOf(suite_.file) << "\n" << what;
  }

  [[nodiscard]] std::string LineOf(const fs::path& file) const {
    std::istringstream text(testing_support::ReadFile(file));
    std::string line;
    for (std::size_t number = 0; number < line_; ++number) std::getline(text, line);
    return line;
  }

  const Suite& suite_;
  const Case& test_;
  const Variables variables_;
  Rewriting& rewriting_;
  std::size_t line_ = 0;
};

/// One set of variables for each combination of the values of its "each".
std::vector<Variables> AllVariables(const Suite& suite, const Case& test) {
  std::vector<Variables> all(1);
  std::vector<Step> steps = suite.head;
  steps.insert(steps.end(), test.steps.begin(), test.steps.end());
  for (const Step& step : steps) {
    if (step.keyword != "each") continue;
    const std::size_t colon = step.text.find(':');
    std::vector<Variables> longer;
    for (const Variables& variables : all) {
      for (const std::string& value : Words(step.text.substr(colon + 1))) {
        longer.push_back(variables);
        longer.back()[step.text.substr(0, colon)] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

void Register(const Suite& suite, Rewriting& rewriting) {
  for (const Case& test : suite.tests) {
    for (const Variables& variables : AllVariables(suite, test)) {
      std::string name = test.name;
      for (const auto& [variable, value] : variables) name += " " + value;
      // As gtest and CMake need it.
      std::ranges::replace_if(
          name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
      ::testing::RegisterTest(suite.file.stem().c_str(), name.c_str(), nullptr, nullptr,
                              suite.file.c_str(), static_cast<int>(test.line),
                              [&suite, &test, variables, &rewriting]() -> ::testing::Test* {
                                return new SuiteTest(suite, test, variables, rewriting);
                              });
    }
  }
}

}  // namespace
}  // namespace suites

/// suite_test [--rewrite] [FILE…]: all files, or these.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> words(argv + 1, argv + argc);
  suites::Rewriting rewriting(std::erase(words, "--rewrite") > 0);
  std::vector<std::filesystem::path> files(words.begin(), words.end());
  if (files.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(SUITE_DIRECTORY)) {
      if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists") {
        files.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(files);
  std::vector<suites::Suite> all;
  try {
    for (const std::filesystem::path& file : files) all.push_back(suites::ReadSuite(file));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  for (const suites::Suite& suite : all) suites::Register(suite, rewriting);
  const int status = RUN_ALL_TESTS();
  rewriting.Write();
  return status;
}
