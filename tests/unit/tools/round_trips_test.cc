// Round trips of each tool: most of its time, if the guest is a virtual machine. tools.h refers to
// these tables.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "paths/mount_check.h"
#include "unit/tools/tool_fixture.h"

namespace tools {
namespace {

using nlohmann::json;

struct Row {
  std::string what;
  std::string tool;
  json arguments;
  int round_trips;         ///< one after the other
  std::string operations;  ///< all of them, in the order of testing_support::Operation
};

class RoundTrips : public ToolTest<testing_support::LocalGuest> {
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
    PutBytes("old.txt", 4096);
    PutBytes("large.txt", std::size_t{1} << 20U);
    PutBytes("directory/file.txt", 10);
    std::filesystem::create_symlink("old.txt", top / "link.txt");
  }

  void PutBytes(const std::string& name, std::size_t size) const {
    Put(name, "line of text\n" + std::string(size > 13 ? size - 13 : 0, 'x'));
  }

  void Expect(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      EXPECT_EQ(ToolTest::RoundTrips(row.tool, row.arguments), row.operations)
          << row.tool << ", " << row.what;
      EXPECT_EQ(guest->round_trips(), row.round_trips) << row.tool << ", " << row.what;
    }
  }
};

const std::string kFind = "LStat 1, RealPath 1";
const std::string kWrite = "FileWrite 1, FileSync 1, FileClose 1";
const std::string kReplace =
    "Open 1, Rename 1, StatFileSystem 1, FileWrite 1, FileSetAttributes 1, FileSync 1, FileClose 1";

TEST_F(RoundTrips, OfReadingTools) {
  Expect({
      {"a file of 4 KiB",
       "read_file",
       {{"path", "/work/old.txt"}},
       3,
       kFind + ", Open 1, StatFileSystem 1, FileStat 1, FileRead 1"},
      {"two lines of it",
       "read_file",
       {{"path", "/work/old.txt"}, {"offset", 0}, {"limit", 2}},
       3,
       kFind + ", Open 1, StatFileSystem 1, FileStat 1, FileRead 1"},
      {"through a link",
       "read_file",
       {{"path", "/work/link.txt"}},
       4,
       "LStat 2, RealPath 1, Open 1, StatFileSystem 1, FileStat 1, FileRead 1"},
      {"a file of 1 MiB",
       "read_file",
       {{"path", "/work/large.txt"}},
       4,
       kFind + ", Open 1, StatFileSystem 1, FileStat 1, FileRead 1"},
      {"a directory",
       "list_directory",
       {{"path", "/work/directory"}},
       2,
       "RealPath 1, List 1, StatFileSystem 1"},
      {"one directory",
       "glob",
       {{"pattern", "*.txt"}, {"path", "/work"}},
       2,
       "RealPath 1, List 1, StatFileSystem 1"},
      {"two directories",
       "glob",
       {{"pattern", "{directory/below,directory}/*.txt"}, {"path", "/work"}},
       4,
       "RealPath 2, List 2, StatFileSystem 2"},
      {"a tree",
       "glob",
       {{"pattern", "**/*.txt"}, {"path", "/work"}},
       2,
       kFind + ", StatFileSystem 1, Run 1"},
      {"a tree",
       "search_file_content",
       {{"pattern", "line"}, {"path", "/work"}},
       2,
       kFind + ", StatFileSystem 1, Run 1"},
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
       kFind + ", Open 1, Rename 1, StatFileSystem 1, " + kWrite},
      {"the same once more",
       "write_file",
       {{"path", "/work/new.txt"}, {"content", "newer"}},
       4,
       kFind + ", " + kReplace},
      {"the same with more than is sent at once",
       "write_file",
       {{"path", "/work/new.txt"}, {"content", std::string(guest::kMaximumTransfer + 1, 'x')}},
       5,
       kFind + ", Open 1, Rename 1, StatFileSystem 1, FileWrite 2, FileSetAttributes 1, "
               "FileSync 1, FileClose 1"},
      // One more to find the deepest directory, two to make the others.
      {"in a new directory below a new one",
       "write_file",
       {{"path", "/work/a/b/c.txt"}, {"content", "x"}},
       7,
       "LStat " + std::to_string(components + 2) +
           ", RealPath 1, Open 1, MakeDirectory 2, Rename 1, StatFileSystem 1, " + kWrite},
      {"one of two lines",
       "replace",
       {{"path", "/work/old.txt"}, {"old_string", "line"}, {"new_string", "row"}},
       7,
       "LStat 2, RealPath 1, Open 2, Rename 1, StatFileSystem 1, FileStat 1, FileRead 1, "
       "FileWrite 1, FileSetAttributes 1, FileSync 1, FileClose 1"},
  });
}

TEST_F(RoundTrips, OfACommand) {
  Expect({{"any",
           "run_shell_command",
           {{"command", {"true"}}, {"directory", "/work"}},
           2,
           kFind + ", StatFileSystem 1, Run 1"}});
}

}  // namespace
}  // namespace tools
