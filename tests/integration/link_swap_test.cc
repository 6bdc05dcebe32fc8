// SPDX-License-Identifier: Apache-2.0
// A process in the guest swaps a link between the check of a path and its use. SFTP version 3 opens
// only by path, so the race can be narrowed but not prevented: a call uses the path that the guest
// resolved, resolves it once more while the file is open and before a rename, and a command's shell
// looks for links above its directory. The process gains nothing: only the guest user can place the
// link, and that user can reach its target anyway.

#include <fcntl.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <system_error>
#include <thread>

#include "integration/fixture.h"
#include "testing/background_loop.h"

namespace integration {
namespace {

constexpr int kCalls = 400;

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

#ifdef RENAME_EXCHANGE
/// A directory and a link to the outside change places each half millisecond.
TEST_F(LinkSwap, SwappedDirectoryIsFollowedOutsideInLessThanOneCallOfAHundred) {
  MakeFile("root/x/a.txt", "in SIDE");
  MakeFile("root/x/below/in", "");
  MakeFile("outside/below/OUTSIDE", "");
  MakeLink("root/other", Path("outside"));
  const testing_support::BackgroundLoop swapper([x = root + "/x", other = root + "/other"] {
    ::renameat2(AT_FDCWD, x.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  });
  const auto run = [&](const std::string& path) {
    return json{{"command", {"ls"}}, {"directory", root + path}};
  };
  const Outcomes read = CallOften("read_file", With("/x/a.txt"));
  const Outcomes ran = CallOften("run_shell_command", run("/x/below"));
  EXPECT_GT(read.inside, 0) << "if all calls are refused, the test shows nothing";
  EXPECT_GT(ran.inside, 0);
  for (const Outcomes& outcomes : {read, ran, CallOften("replace", With("/x/a.txt", replacement_)),
                                   CallOften("write_file", With("/x/a.txt", content_))}) {
    EXPECT_LT(100 * outcomes.outside, kCalls);
  }
  EXPECT_EQ(client().CallTool("list_directory", With("")).value("isError", false), false);
}
#endif

}  // namespace
}  // namespace integration
