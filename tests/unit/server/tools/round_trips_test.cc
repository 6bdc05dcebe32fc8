// SPDX-License-Identifier: Apache-2.0
// Round trips, requests and guest processes of each tool: most of its time, if the guest is a
// virtual machine. CLOSE after reading and listing is not waited for, nor counted. Nor is READDIR:
// two follow in one round trip if there are fewer than a hundred names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "files/file_content.h"
#include "paths/mount_check.h"
#include "tools/tools.h"
#include "unit/server/tools/tool_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using guest::Operation;
using nlohmann::json;
using ::testing::HasSubstr;

/// One call. Its arguments are JSON.
struct Step {
  std::string what;
  std::string tool;
  std::string arguments;
  int round_trips;             ///< one after the other
  std::string operations;      ///< all of them, in the order of guest::Operation
  std::string processes = {};  ///< besides the shell: "find 1, git 2"
};

class RoundTrips : public ToolTest {
 protected:
  RoundTrips() {
    // Records the programs that scripts start, but not grep, which ends LocalGuest's shells.
    for (const std::string name : {"cat", "find", "git", "sh", "stat"}) {
      testing_support::WriteFile(programs / name, "#!/bin/sh\necho " + name + " >>'" +
                                                      log.string() + "'\nPATH=${PATH#*:}\nexec " +
                                                      name + " \"$@\"\n");
      fs::permissions(programs / name, fs::perms::owner_all);
    }
    guest->setup = "PATH=" + programs.string() +
                   ":$PATH; export PATH; HOME=" + directory_.path().string() + "; ";
    fs::create_directories(work / "directory" / "below");
    fs::create_directory(own);
    rules.mounts = rules.roots;
    rules.roots.push_back({.host = own, .guest = own, .writable = true, .is_guests_own = true});
    lima::Mount mount;
    mount.mount_point = work.string();
    rules.mount_check =
        std::make_shared<paths::MountCheck>(std::vector<lima::Mount>{mount}, "Linux");
    rules.mount_check->CheckAll(*guest, {});
    rules.working_directory = "/work";
    UseRules();
    EXPECT_EQ(std::system(("git init -q '" + work.string() + "'").c_str()), 0);
    PutBytes("old.txt", 4096);
    PutBytes("large.txt", std::size_t{1} << 20U);
    PutBytes("directory/file.txt", 10);
    fs::create_symlink("old.txt", work / "link.txt");
    Call("read_file", {{"path", "/work/old.txt"}});  // the roots are known then
    Call("glob", {{"pattern", "**/x"}});             // the guest has its empty repository
    fs::remove(log);
  }

  void PutBytes(const std::string& name, std::size_t size) const {
    Put(name, "line of text\n" + std::string(size > 13 ? size - 13 : 0, 'x'));
  }

  /// Since the last call.
  [[nodiscard]] std::string Processes() const {
    std::map<std::string, int> counts;
    std::ifstream names(log);
    for (std::string name; names >> name;) ++counts[name];
    fs::remove(log);
    std::string text;
    for (const auto& [name, count] : counts) {
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
    }
    return text;
  }

  void Expect(const std::vector<Step>& rows) {
    for (const Step& row : rows) {
      SCOPED_TRACE(row.tool + ", " + row.what);
      guest->ResetCounts();
      (void)Call(row.tool, json::parse(row.arguments));
      EXPECT_EQ(guest->counts(), row.operations);
      EXPECT_EQ(guest->round_trips(), row.round_trips);
      EXPECT_EQ(Processes(), row.processes);
    }
  }

  const fs::path own = directory_.path() / "own";
  const fs::path programs = directory_.path() / "programs";
  const fs::path log = directory_.path() / "log";
};

const std::string kFind = "LStat 1, RealPath 1";
const std::string kOpen = "LStat 1, RealPath 3";  // again before and after the opening
const std::string kRead = ", Open 1, StatOpen 1, Read 1";
const std::string kWrite = "Write 1, Sync 1, Close 1";
const std::string kMake = "LStat 1, RealPath 3";  // again before and after it is made
const std::string kCreate = ", StatFileSystem 1, Open 1, Rename 1, ";

// clang-format off
TEST_F(RoundTrips, OfReadingToolsAndCommands) {
  std::string many = "d0";
  for (int i = 1; i < 40; ++i) many += ",d" + std::to_string(i);
  Expect({
      {"a file of 4 KiB", "read_file", R"({"path":"/work/old.txt"})", 3, kOpen + kRead},
      {"two lines of it", "read_file", R"({"path":"/work/old.txt","offset":0,"limit":2})", 3, kOpen + kRead},
      {"through a link", "read_file", R"({"path":"/work/link.txt"})", 4, "LStat 2, RealPath 3" + kRead},
      {"a file of 1 MiB", "read_file", R"({"path":"/work/large.txt"})", 4, kOpen + kRead},
      {"a directory", "list_directory", R"({"path":"/work/directory"})", 2, "RealPath 1, OpenDirectory 1"},
      {"one directory", "glob", R"({"pattern":"*.txt"})", 2, "RealPath 1, OpenDirectory 1"},
      {"two directories", "glob", R"({"pattern":"{directory/below,directory}/*.txt"})", 4, "RealPath 2, OpenDirectory 2"},
      {"a tree without a **", "glob", R"({"pattern":"*/*.txt"})", 2, kFind + ", Run 1", "find 2"},
      {"a repository", "glob", R"({"pattern":"**/*.txt"})", 2, kFind + ", Run 1", "find 1, git 2"},
      {"a directory of a repository", "glob", R"({"pattern":"**/*.txt","path":"/work/directory"})", 2, kFind + ", Run 1", "find 1, git 3"},
      {"many beginnings", "glob", R"({"pattern":"{{)" + many + R"(},{d1,d2}/**}/x"})", 2, kFind + ", Run 1", "find 1, git 2"},
      {"a command", "run_shell_command", R"({"command":["true"],"directory":"/work"})", 2, kFind + ", Run 1"},
      {"a repository", "search_file_content", R"({"pattern":"line"})", 2, kFind + ", Run 1", "git 2"},
      {"a directory of a repository, with matches", "search_file_content", R"({"pattern":"line","path":"/work/directory"})", 2, kFind + ", Run 1", "git 2"},
      {"a directory of a repository, without matches", "search_file_content", R"({"pattern":"no such line","path":"/work/directory"})", 2, kFind + ", Run 1", "git 3"},
  });
}

TEST_F(RoundTrips, OfALargeTextThatIsShownInPartAreThoseOfASmallOne) {
  format.style = mcp::ResultStyle::kText;
  Put("huge.txt", std::string(std::size_t{1} << 24U, '\n'));
  Expect({{"16 MiB", "read_file", R"({"path":"/work/huge.txt"})", 4, kOpen + kRead}});
}

TEST_F(RoundTrips, OfWritingTools) {
  const std::string path = work / "a/b/c.txt";
  const auto components = std::count(path.begin(), path.end(), '/');
  const std::string much(guest::kMaxTransfer + 1, 'x');
  Expect({
      {"a new file", "write_file", R"({"path":"/work/new.txt","content":"new"})", 4, kMake + kCreate + kWrite},
      {"over another, with the owner of a new one", "write_file", R"({"path":"/work/new.txt","content":"newest"})", 4, "LStat 2, RealPath 3" + kCreate + kWrite},
      {"the same with more than is sent at once", "write_file", R"({"path":"/work/new.txt","content":")" + much + R"("})", 5, "LStat 2, RealPath 3" + kCreate + "Write 2, Sync 1, Close 1"},
      // One more to find the deepest directory, two to make the others.
      {"in a new directory below a new one", "write_file", R"({"path":"/work/a/b/c.txt","content":"x"})", 7,
       "LStat " + std::to_string(components + 2) + ", RealPath 3, StatFileSystem 1, Open 1, MakeDirectory 2, Rename 1, " + kWrite},
      {"one of two lines", "replace", R"({"path":"/work/old.txt","old_string":"line","new_string":"row"})", 6,
       "LStat 3, RealPath 5, StatFileSystem 1, Open 2, Rename 1, StatOpen 1, Read 1, " + kWrite},
      {"in no mount, which is not checked", "write_file", R"({"path":")" + (own / "a").string() + R"(","content":"x"})", 4, kMake + ", Open 1, Rename 1, " + kWrite},
  });
}
// clang-format on

TEST_F(RoundTrips, ToSetPermissionsOnlyWhereTheGuestTakesSomeAway) {
  const mode_t before = umask(022);
  for (const auto& [mask, mode, sets] :
       {std::tuple{022U, 0644U, 0}, std::tuple{022U, 0755U, 0}, std::tuple{022U, 0666U, 1},
        std::tuple{0U, 0666U, 0}, std::tuple{077U, 0666U, 1}, std::tuple{022U, 02644U, 1}}) {
    umask(static_cast<mode_t>(mask));
    fs::permissions(work / "old.txt", fs::perms(mode));
    guest->ResetCounts();
    (void)Call("write_file", {{"path", "/work/old.txt"}, {"content", "new"}});
    EXPECT_EQ(testing_support::ModeOf(work / "old.txt"), mode);
    EXPECT_EQ(guest->count(Operation::kSetAttributes), sets);
  }
  umask(before);
}

TEST_F(RoundTrips, BeginOnceThePatternIsKnownToBeShortEnough) {
  const auto pattern = [](std::size_t size) { return json{{"pattern", std::string(size, 'y')}}; };
  guest->ResetCounts();
  EXPECT_THAT(Error("search_file_content", pattern(kMaxSearchPattern + 1)),
              HasSubstr("16385 bytes"));
  EXPECT_EQ(guest->total(), 0);
  EXPECT_EQ(
      Structured(Call("search_file_content", pattern(kMaxSearchPattern))).at("git_grep_output"),
      "");
}

class Reads : public ToolTest {
 protected:
  std::string Lines(std::uint64_t offset, std::uint64_t limit) {
    guest->ResetCounts();
    const json arguments = {{"path", "/work/file"}, {"offset", offset}, {"limit", limit}};
    return Structured(Call("read_file", arguments)).at("content");
  }
};

TEST_F(Reads, OfLinesAcrossChunksReturnWholeLines) {
  std::string text;
  for (int i = 0; text.size() < 3 * files::kReadChunk; ++i)
    text += "line " + std::to_string(i) + "\n";
  Put("file", text);
  const std::size_t start = text.find("\nline 30000\n") + 1;
  const std::size_t end = text.find("\nline 50000\n") + 1;
  EXPECT_EQ(Lines(30'000, 20'000), text.substr(start, end - start));
  EXPECT_EQ(Lines(0, 1'000'000), text);
}

TEST_F(Reads, OfLinesHaveTheServersSizeAndComeInGrowingBursts) {
  constexpr std::size_t kServersSize = 261'120;
  Put("file", std::string(16 * kServersSize, '\n'));
  for (const auto& [last_line, reads, bursts] : {std::tuple{0U, 1U, 1},
                                                 {kServersSize - 1, 1U, 1},
                                                 {kServersSize, 3U, 2},
                                                 {7 * kServersSize - 1, 7U, 3},
                                                 {16 * kServersSize - 1, 17U, 5}}) {
    EXPECT_EQ(Lines(last_line, 1), "\n");
    EXPECT_EQ(guest->server_reads(), reads) << last_line;
    EXPECT_EQ(guest->count(Operation::kRead), bursts) << last_line;
  }
}

}  // namespace
}  // namespace tools
