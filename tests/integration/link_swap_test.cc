// A process in the guest swaps a link between the check of a path and its use. SFTP version 3 opens
// only by path, so the race can be narrowed but not prevented: a call uses the path that the guest
// resolved, and compares the opened file with the checked one. The process gains nothing: only the
// guest user can place the link, and that user can reach its target anyway.

#include <iostream>
#include <system_error>

#include "integration/fixture.h"
#include "testing/background_loop.h"

namespace integration {
namespace {

constexpr int kCalls = 150;

using testing_support::BackgroundLoop;

/// Moves `one` and `other` to `name` and back in turn. In two steps: a directory and a link cannot
/// be renamed over each other.
std::unique_ptr<BackgroundLoop> Swap(const fs::path& name, const fs::path& one,
                                     const fs::path& other) {
  fs::rename(one, name);
  return std::make_unique<BackgroundLoop>([=] {
    std::error_code ignored;
    for (const auto& [away, in] : {std::pair(one, other), std::pair(other, one)}) {
      fs::rename(name, away, ignored);
      fs::rename(in, name, ignored);
    }
  });
}

struct Outcomes {
  int inside = 0;   ///< worked on the file inside the root
  int refused = 0;  ///< an error
  int outside = 0;  ///< reached the file outside

  void Print(const std::string& what) const {
    const std::string counts = std::to_string(inside) + " inside, " + std::to_string(refused) +
                               " refused, " + std::to_string(outside) + " got through";
    std::cout << what << ", " << kCalls << " calls: " << counts << std::endl;
    ::testing::Test::RecordProperty(what, counts);
  }
};

class LinkSwap : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("root/in/a.txt", "in SIDE");
    MakeFile("outside/a.txt", "OUTSIDE");
    StartGuest();
  }

  /// A link to a file, in turn inside and outside.
  std::unique_ptr<BackgroundLoop> SwapLeaf() {
    MakeLink("root/one", "in/a.txt");
    MakeLink("root/other", Path("outside/a.txt"));
    return Swap(root + "/x", root + "/one", root + "/other");
  }

  /// A directory that is in turn itself and a link to one outside.
  std::unique_ptr<BackgroundLoop> SwapDirectory() {
    MakeFile("root/one/a.txt", "in SIDE");
    MakeLink("root/other", Path("outside"));
    return Swap(root + "/x", root + "/one", root + "/other");
  }

  /// Calls a tool kCalls times; `reached_outside` judges each result.
  template <typename Predicate>
  Outcomes CallOften(const std::string& tool, const json& arguments, Predicate reached_outside) {
    Outcomes outcomes;
    for (int i = 0; i < kCalls; ++i) {
      const json result = client().CallTool(tool, arguments);
      if (reached_outside(result)) {
        ++outcomes.outside;
      } else {
        ++(result.value("isError", false) ? outcomes.refused : outcomes.inside);
      }
    }
    outcomes.Print(std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
                   " " + tool);
    return outcomes;
  }

  bool OutsideWasChanged() {
    if (ReadFile(Path("outside/a.txt")) == "OUTSIDE") return false;
    MakeFile("outside/a.txt", "OUTSIDE");
    return true;
  }
};

TEST_F(LinkSwap, SwappedLinkToAFileIsNeverFollowedOutside) {
  const auto swapper = SwapLeaf();
  const auto shows_outside = [](const json& result) {
    return TextOf(result).find("OUTSIDE") != std::string::npos;
  };
  const auto changed_outside = [this](const json&) { return OutsideWasChanged(); };
  const std::string path = root + "/x";
  for (const Outcomes& outcomes :
       {CallOften("read_file", {{"path", path}}, shows_outside),
        CallOften("replace", {{"path", path}, {"old_string", "SIDE"}, {"new_string", "SIDE."}},
                  changed_outside),
        CallOften("write_file", {{"path", path}, {"content", "written"}}, changed_outside)}) {
    EXPECT_EQ(outcomes.outside, 0);
    EXPECT_GT(outcomes.inside, 0) << "if all calls are refused, the test shows nothing";
  }
}

// A directory above the file can be swapped after the check. Calls that get through are counted;
// the same process could have done the same by itself. Nothing may hang, crash or leave half a
// file.
TEST_F(LinkSwap, SwappedDirectoryIsCountedForEveryTool) {
  MakeFile("outside/mark", "");
  const auto swapper = SwapDirectory();
  const std::string file = root + "/x/a.txt";
  CallOften("read_file", {{"path", file}},
            [](const json& result) { return TextOf(result).find("OUTSIDE") != std::string::npos; });
  CallOften("list_directory", {{"path", root + "/x"}},
            [](const json& result) { return TextOf(result).find("mark") != std::string::npos; });
  CallOften("replace", {{"path", file}, {"old_string", "SIDE"}, {"new_string", "SIDE."}},
            [this](const json&) { return OutsideWasChanged(); });
  CallOften("write_file", {{"path", file}, {"content", "in SIDE"}},
            [this](const json&) { return OutsideWasChanged(); });
  EXPECT_EQ(client().CallTool("list_directory", {{"path", root}}).value("isError", false), false);
}

}  // namespace
}  // namespace integration
