// A link that a process in the guest swaps between the check of a path and its use. SFTP version 3
// opens by path only, so this cannot be closed, only narrowed: a call uses the path that the guest
// resolved, never the one given, and what was opened is compared with what was checked. Such a
// process gains nothing: only the guest user can place the link, and that user reaches what it
// leads to without us.

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <iostream>
#include <system_error>
#include <thread>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::TextOf;

constexpr int kCalls = 150;

/// Swaps two names in a tight loop, each step atomic, until it is destroyed.
class Swapper {
 public:
  /// `one` and `other` are moved to `name` and back in turn.
  Swapper(fs::path name, fs::path one, fs::path other)
      : name_(std::move(name)), one_(std::move(one)), other_(std::move(other)) {
    fs::rename(one_, name_);
    thread_ = std::thread([this] { Run(); });
  }
  ~Swapper() {
    stop_ = true;
    thread_.join();
  }
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;

 private:
  void Run() {
    while (!stop_) {
      Swap(one_, other_);
      Swap(other_, one_);
    }
  }
  // A directory cannot be renamed over a link nor a link over a directory: two steps.
  void Swap(const fs::path& away, const fs::path& in) {
    std::error_code ignored;
    fs::rename(name_, away, ignored);
    fs::rename(in, name_, ignored);
  }

  fs::path name_;
  fs::path one_;
  fs::path other_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

struct Outcomes {
  int inside = 0;   ///< did what was asked, inside the root
  int refused = 0;  ///< an error
  int outside = 0;  ///< reached what lies outside

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
    Mount({{root, "", true}});
  }

  /// A link to a file, inside and outside in turn.
  std::unique_ptr<Swapper> SwapLeaf() {
    MakeLink("root/one", "in/a.txt");
    MakeLink("root/other", Path("outside/a.txt"));
    return std::make_unique<Swapper>(root + "/x", root + "/one", root + "/other");
  }

  /// A directory, in turn itself and a link to one outside.
  std::unique_ptr<Swapper> SwapDirectory() {
    MakeFile("root/one/a.txt", "in SIDE");
    MakeLink("root/other", Path("outside"));
    return std::make_unique<Swapper>(root + "/x", root + "/one", root + "/other");
  }

  /// Calls a tool again and again; `reached_outside` looks at a result that is no error.
  template <typename Predicate>
  Outcomes CallAgainAndAgain(const std::string& tool, const json& arguments,
                             Predicate reached_outside) {
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

  const std::string root = Path("root").string();
};

TEST_F(LinkSwap, SwappedLinkToAFileIsNeverReadThrough) {
  const auto swapper = SwapLeaf();
  const Outcomes outcomes = CallAgainAndAgain(
      "read_file", {{"path", root + "/x"}},
      [](const json& result) { return TextOf(result).find("OUTSIDE") != std::string::npos; });
  EXPECT_EQ(outcomes.outside, 0);
  EXPECT_GT(outcomes.inside, 0) << "where all is refused, nothing is shown";
}

TEST_F(LinkSwap, SwappedLinkToAFileIsNeverWrittenThrough) {
  const auto swapper = SwapLeaf();
  const Outcomes outcomes =
      CallAgainAndAgain("write_file", {{"path", root + "/x"}, {"content", "written"}},
                        [this](const json&) { return OutsideWasChanged(); });
  EXPECT_EQ(outcomes.outside, 0);
  EXPECT_GT(outcomes.inside, 0) << "where all is refused, nothing is shown";
}

TEST_F(LinkSwap, SwappedLinkToAFileIsNeverReplacedThrough) {
  const auto swapper = SwapLeaf();
  const Outcomes outcomes = CallAgainAndAgain(
      "replace", {{"path", root + "/x"}, {"old_string", "SIDE"}, {"new_string", "SIDE."}},
      [this](const json&) { return OutsideWasChanged(); });
  EXPECT_EQ(outcomes.outside, 0);
  EXPECT_GT(outcomes.inside, 0) << "where all is refused, nothing is shown";
}

// A directory above the file can be swapped after the check. What gets through is counted, and
// always is what the same process could have done by itself; nothing ends in a hang, a crash or a
// half file.
TEST_F(LinkSwap, SwappedDirectoryIsCountedForEveryTool) {
  MakeFile("outside/mark", "");
  const auto swapper = SwapDirectory();
  const std::string file = root + "/x/a.txt";
  CallAgainAndAgain("read_file", {{"path", file}}, [](const json& result) {
    return TextOf(result).find("OUTSIDE") != std::string::npos;
  });
  CallAgainAndAgain("list_directory", {{"path", root + "/x"}}, [](const json& result) {
    return TextOf(result).find("mark") != std::string::npos;
  });
  CallAgainAndAgain("replace", {{"path", file}, {"old_string", "SIDE"}, {"new_string", "SIDE."}},
                    [this](const json&) { return OutsideWasChanged(); });
  CallAgainAndAgain("write_file", {{"path", file}, {"content", "in SIDE"}},
                    [this](const json&) { return OutsideWasChanged(); });
  EXPECT_EQ(client().CallTool("list_directory", {{"path", root}}).value("isError", false), false);
}

}  // namespace
}  // namespace integration
