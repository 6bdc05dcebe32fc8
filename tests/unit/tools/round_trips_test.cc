// Round trips, requests and guest processes of each tool: most of its time, if the guest is a
// virtual machine. CLOSE after reading and listing is not waited for, nor counted. Nor is READDIR:
// two follow in one round trip if there are fewer than a hundred names.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paths/mount_check.h"
#include "unit/tools/tool_fixture.h"

namespace tools {
namespace {

using nlohmann::json;

struct Step {
  std::string what;
  std::string tool;
  json arguments;
  int round_trips;             ///< one after the other
  std::string operations;      ///< all of them, in the order of guest::Operation
  std::string processes = {};  ///< besides the shell: "find 1, git 2"
};

/// Counts the programs that its scripts start, but not grep, which ends LocalGuest's shells.
class CountingGuest final : public testing_support::LocalGuest {
 public:
  CountingGuest() {
    const std::filesystem::path programs = directory_.path() / "programs";
    std::filesystem::create_directory(programs);
    for (const char* name : {"cat", "find", "git", "sh", "stat"}) {
      std::ofstream(programs / name) << "#!/bin/sh\necho " << name << " >>'" << Log().string()
                                     << "'\nPATH=${PATH#*:}\nexec " << name << " \"$@\"\n";
      std::filesystem::permissions(programs / name, std::filesystem::perms::owner_all);
    }
    setup_ = "PATH=" + programs.string() + ":$PATH; export PATH; ";
  }

  std::unique_ptr<shell::Process> Start(std::string command_line,
                                        std::shared_ptr<shell::ProcessEvents> events) override {
    return LocalGuest::Start(setup_ + command_line, std::move(events));
  }

  /// Since the last call.
  std::string Processes() {
    std::map<std::string, int> counts;
    std::ifstream log(Log());
    for (std::string name; log >> name;) ++counts[name];
    std::filesystem::remove(Log());
    std::string text;
    for (const auto& [name, count] : counts) {
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
    }
    return text;
  }

 private:
  [[nodiscard]] std::filesystem::path Log() const { return directory_.path() / "log"; }

  testing_support::TemporaryDirectory directory_;
  std::string setup_;
};

class RoundTrips : public ToolTest<CountingGuest> {
 protected:
  RoundTrips() {
    paths::PathRules::Options options;
    options.instance = "default";
    options.roots = {{.host = "/work", .guest = top.string(), .writable = true}};
    options.mounts = options.roots;
    lima::Mount mount;
    mount.mount_point = top.string();
    options.mount_check =
        std::make_shared<paths::MountCheck>(std::vector<lima::Mount>{mount}, "Linux");
    options.mount_check->CheckAll(*guest, {});
    UseRules(options);
    std::filesystem::create_directories(top / "directory" / "below");
    EXPECT_EQ(std::system(("git init -q '" + top.string() + "'").c_str()), 0);
    PutBytes("old.txt", 4096);
    PutBytes("large.txt", std::size_t{1} << 20U);
    PutBytes("directory/file.txt", 10);
    std::filesystem::create_symlink("old.txt", top / "link.txt");
  }

  void PutBytes(const std::string& name, std::size_t size) const {
    Put(name, "line of text\n" + std::string(size > 13 ? size - 13 : 0, 'x'));
  }

  void Expect(const std::vector<Step>& rows) {
    for (const Step& row : rows) {
      EXPECT_EQ(ToolTest::RoundTrips(row.tool, row.arguments), row.operations)
          << row.tool << ", " << row.what;
      EXPECT_EQ(guest->round_trips(), row.round_trips) << row.tool << ", " << row.what;
      EXPECT_EQ(guest->Processes(), row.processes) << row.tool << ", " << row.what;
    }
  }
};

const std::string kFind = "LStat 1, RealPath 1";
const std::string kWrite = "Write 1, Sync 1, Close 1";

TEST_F(RoundTrips, OfReadingTools) {
  Expect({
      {"a file of 4 KiB",
       "read_file",
       {{"path", "/work/old.txt"}},
       3,
       kFind + ", Open 1, StatOpen 1, Read 1"},
      {"two lines of it",
       "read_file",
       {{"path", "/work/old.txt"}, {"offset", 0}, {"limit", 2}},
       3,
       kFind + ", Open 1, StatOpen 1, Read 1"},
      {"through a link",
       "read_file",
       {{"path", "/work/link.txt"}},
       4,
       "LStat 2, RealPath 1, Open 1, StatOpen 1, Read 1"},
      {"a file of 1 MiB",
       "read_file",
       {{"path", "/work/large.txt"}},
       4,
       kFind + ", Open 1, StatOpen 1, Read 1"},
      {"a directory",
       "list_directory",
       {{"path", "/work/directory"}},
       2,
       "RealPath 1, OpenDirectory 1"},
      {"one directory",
       "glob",
       {{"pattern", "*.txt"}, {"path", "/work"}},
       2,
       "RealPath 1, OpenDirectory 1"},
      {"two directories",
       "glob",
       {{"pattern", "{directory/below,directory}/*.txt"}, {"path", "/work"}},
       4,
       "RealPath 2, OpenDirectory 2"},
      {"a tree without a **",
       "glob",
       {{"pattern", "*/*.txt"}, {"path", "/work"}},
       2,
       kFind + ", Run 1",
       "find 1"},
      {"a repository",
       "glob",
       {{"pattern", "**/*.txt"}, {"path", "/work"}},
       2,
       kFind + ", Run 1",
       "find 1, git 1"},
      {"a directory of a repository",
       "glob",
       {{"pattern", "**/*.txt"}, {"path", "/work/directory"}},
       2,
       kFind + ", Run 1",
       "find 1, git 2"},
      {"a repository",
       "search_file_content",
       {{"pattern", "line"}, {"path", "/work"}},
       2,
       kFind + ", Run 1",
       "git 1"},
      {"a directory of a repository, with matches",
       "search_file_content",
       {{"pattern", "line"}, {"path", "/work/directory"}},
       2,
       kFind + ", Run 1",
       "git 1"},
      {"a directory of a repository, without matches",
       "search_file_content",
       {{"pattern", "no such line"}, {"path", "/work/directory"}},
       2,
       kFind + ", Run 1",
       "git 2"},
  });
}

TEST_F(RoundTrips, OfWritingTools) {
  const std::string path = top / "a/b/c.txt";
  const auto components = std::count(path.begin(), path.end(), '/');
  Expect({
      {"a new file",
       "write_file",
       {{"path", "/work/new.txt"}, {"content", "new"}},
       4,
       kFind + ", StatFileSystem 1, Open 1, Rename 1, " + kWrite},
      {"over the first file of a directory, whose permissions are looked at",
       "write_file",
       {{"path", "/work/new.txt"}, {"content", "newer"}},
       4,
       "LStat 2, RealPath 1, StatFileSystem 1, Open 1, Rename 1, " + kWrite},
      {"over another",
       "write_file",
       {{"path", "/work/new.txt"}, {"content", "newest"}},
       4,
       kFind + ", StatFileSystem 1, Open 1, Rename 1, " + kWrite},
      {"the same with more than is sent at once",
       "write_file",
       {{"path", "/work/new.txt"}, {"content", std::string(guest::kMaxTransfer + 1, 'x')}},
       5,
       kFind + ", StatFileSystem 1, Open 1, Rename 1, Write 2, Sync 1, Close 1"},
      // One more to find the deepest directory, two to make the others.
      {"in a new directory below a new one",
       "write_file",
       {{"path", "/work/a/b/c.txt"}, {"content", "x"}},
       7,
       "LStat " + std::to_string(components + 2) +
           ", RealPath 1, StatFileSystem 1, Open 1, MakeDirectory 2, Rename 1, " + kWrite},
      {"one of two lines",
       "replace",
       {{"path", "/work/old.txt"}, {"old_string", "line"}, {"new_string", "row"}},
       6,
       "LStat 2, RealPath 1, StatFileSystem 1, Open 2, Rename 1, StatOpen 1, Read 1, " + kWrite},
  });
}

TEST_F(RoundTrips, OfACommand) {
  Expect({{"any",
           "run_shell_command",
           {{"command", {"true"}}, {"directory", "/work"}},
           2,
           kFind + ", Run 1"}});
}

}  // namespace
}  // namespace tools
