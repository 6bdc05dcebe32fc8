// SPDX-License-Identifier: Apache-2.0
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

class LinkSwap : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("outside/a.txt", "OUTSIDE");
    StartGuest();
  }

  /// Moves `one` and `other` to `x` and back in turn. In two steps: a directory and a link cannot
  /// be renamed over each other.
  std::unique_ptr<testing_support::BackgroundLoop> Swap() {
    const fs::path x = root + "/x";
    fs::rename(root + "/one", x);
    return std::make_unique<testing_support::BackgroundLoop>(
        [x, one = root + "/one", other = root + "/other"] {
          std::error_code ignored;
          for (const auto& [away, in] : {std::pair(one, other), std::pair(other, one)}) {
            fs::rename(x, away, ignored);
            fs::rename(in, x, ignored);
          }
        });
  }

  struct Outcomes {
    int inside = 0;   ///< worked on the file inside the root
    int refused = 0;  ///< an error
    int outside = 0;  ///< reached the file outside
  };
  /// Calls a tool kCalls times.
  Outcomes CallOften(const std::string& tool, const json& arguments) {
    Outcomes outcomes;
    for (int i = 0; i < kCalls; ++i) {
      const json result = client().CallTool(tool, arguments);
      if (OutsideWasChanged() || TextOf(result).find("OUTSIDE") != std::string::npos) {
        ++outcomes.outside;
      } else {
        ++(result.value("isError", false) ? outcomes.refused : outcomes.inside);
      }
    }
    std::cout << tool << ": " << outcomes.inside << " inside, " << outcomes.refused << " refused, "
              << outcomes.outside << " got through" << std::endl;
    return outcomes;
  }

  bool OutsideWasChanged() {
    if (ReadFile(Path("outside/a.txt")) == "OUTSIDE") return false;
    MakeFile("outside/a.txt", "OUTSIDE");
    return true;
  }

  json With(const std::string& path, const json& more = json::object()) {
    json arguments = {{"path", root + path}};
    arguments.update(more);
    return arguments;
  }
  const json replacement_ = {{"old_string", "SIDE"}, {"new_string", "SIDE."}};
  const json content_ = {{"content", "in SIDE"}};
};

TEST_F(LinkSwap, SwappedLinkToAFileIsNeverFollowedOutside) {
  MakeFile("root/in/a.txt", "in SIDE");
  MakeLink("root/one", "in/a.txt");
  MakeLink("root/other", Path("outside/a.txt"));
  const auto swapper = Swap();
  for (const Outcomes& outcomes :
       {CallOften("read_file", With("/x")), CallOften("replace", With("/x", replacement_)),
        CallOften("write_file", With("/x", content_))}) {
    EXPECT_EQ(outcomes.outside, 0);
    EXPECT_GT(outcomes.inside, 0) << "if all calls are refused, the test shows nothing";
  }
}

// A directory above the file can be swapped after the check. Calls that get through are counted;
// the same process could have done the same by itself. Nothing may hang, crash or leave half a
// file.
TEST_F(LinkSwap, SwappedDirectoryIsCountedForEveryTool) {
  MakeFile("root/one/a.txt", "in SIDE");
  MakeFile("outside/OUTSIDE", "");
  MakeLink("root/other", Path("outside"));
  const auto swapper = Swap();
  CallOften("read_file", With("/x/a.txt"));
  CallOften("list_directory", With("/x"));
  CallOften("replace", With("/x/a.txt", replacement_));
  CallOften("write_file", With("/x/a.txt", content_));
  EXPECT_EQ(client().CallTool("list_directory", With("")).value("isError", false), false);
}

}  // namespace
}  // namespace integration
