// What the tools do with mounts that are not there in the guest, and with those whose cache is old.

#include "tools/mount_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mcp/tool.h"
#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"
#include "tools/direct_read.h"
#include "tools/temporary_name.h"
#include "tools/tool_list.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_support::Operation;

class FakeCheck final : public MountCheck {
 public:
  MountState Ask(std::size_t mount, guest::Guest&, const support::Context&) override {
    ++asked;
    return states.at(mount);
  }
  [[nodiscard]] MountState LastKnown(std::size_t mount) const override { return states.at(mount); }

  std::vector<MountState> states;
  int asked = 0;
};

/// Commands see the host's files of today in fresh/, where SFTP sees those that the guest remembers
/// in stale/. O_DIRECT is not wanted on this machine's file system, which may not have it.
class StaleGuest final : public testing_support::LocalGuest {
 public:
  guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                           const support::Context& context) override {
    guest::Command changed = command;
    Replace(changed.standard_input, "iflag=direct", can_read_directly ? "" : "iflag=no_such_flag");
    Replace(changed.standard_input, "/stale/", "/fresh/");
    scripts.push_back(changed.standard_input);
    return LocalGuest::Run(changed, sink, context);
  }

  bool can_read_directly = true;
  std::vector<std::string> scripts;

 private:
  static void Replace(std::string& text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
};

/// The mounts: /host/work is GUEST/work, writable; /host/inner is GUEST/work/inner, in it;
/// /host/stale is GUEST/stale, read-only. GUEST/local is no mount, but allowed.
class MountCheckTest : public ::testing::Test,
                       private WorkspaceSource,
                       private mcp::ProgressReporter {
 protected:
  enum : std::size_t { kWork, kInner, kStale };

  MountCheckTest() {
    for (const char* name : {"work/inner", "stale", "fresh", "local"}) {
      fs::create_directories(top / name);
    }
    check->states.resize(3);
    PathRules::Options options;
    options.instance = "default";
    options.roots = {{.host = "/host/work", .guest = top / "work", .writable = true},
                     {.host = "/host/inner", .guest = top / "work/inner", .writable = true},
                     {.host = "/host/stale", .guest = top / "stale"}};
    options.mounts = options.roots;
    options.roots.push_back({.host = top / "local", .guest = top / "local", .writable = true});
    options.mount_check = check;
    options.working_directory = "/host/work";
    UseRules(options);
    for (auto& tool : MakeTools(static_cast<WorkspaceSource&>(*this), ToolOptions{})) {
      const std::string name = tool->definition().name;
      tools_.emplace(name, std::move(tool));
    }
  }

  void UseRules(const PathRules::Options& options) {
    options_ = options;
    workspace_.guest = guest;
    workspace_.paths = std::make_shared<const PathRules>(options);
  }

  mcp::ToolResult Call(const std::string& tool, const json& arguments) {
    return tools_.at(tool)->Call({.arguments = arguments, .context = {}, .progress = *this});
  }

  std::string Error(const std::string& tool, const json& arguments) {
    try {
      ADD_FAILURE() << tool << " did not fail: " << Call(tool, arguments).structured;
      return "";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  /// The further text blocks of the result.
  std::vector<std::string> Notes(const std::string& tool, const json& arguments) {
    std::vector<std::string> notes;
    for (const json& block : Call(tool, arguments).more_content) {
      notes.push_back(block.at("text"));
    }
    return notes;
  }

  std::string Content(const json& arguments) {
    return Call("read_file", arguments).structured.at("content");
  }

  void Put(const std::string& name, const std::string& bytes) const {
    std::ofstream(top / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string Get(const std::string& name) const {
    std::ifstream file(top / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Names of regular files below `name`.
  [[nodiscard]] std::set<std::string> Files(const std::string& name) const {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(top / name)) {
      if (entry.is_regular_file()) files.insert(entry.path().filename());
    }
    return files;
  }

  testing_support::TemporaryDirectory directory_;
  const fs::path top = directory_.path();
  const std::shared_ptr<StaleGuest> guest = std::make_shared<StaleGuest>();
  const std::shared_ptr<FakeCheck> check = std::make_shared<FakeCheck>();
  PathRules::Options options_;

 private:
  Workspace Acquire(const support::Context&, mcp::ProgressReporter&) override { return workspace_; }
  [[nodiscard]] bool requested() const override { return false; }
  void Report(const std::string&) override {}

  Workspace workspace_;
  std::map<std::string, std::unique_ptr<mcp::Tool>> tools_;
};

TEST_F(MountCheckTest, EveryToolRefusesAMountThatIsNotMountedAndSaysWhatToDo) {
  check->states[kWork].mounted = false;
  Put("work/there", "what lies beneath");
  const std::map<std::string, json> calls = {
      {"glob", {{"pattern", "*"}, {"path", "/host/work"}}},
      {"list_directory", {{"path", "/host/work"}}},
      {"read_file", {{"path", "/host/work/there"}}},
      {"replace", {{"path", "/host/work/there"}, {"old_string", "lies"}, {"new_string", "is"}}},
      {"run_shell_command", {{"command", {"true"}}, {"directory", "/host/work"}}},
      {"search_file_content", {{"pattern", "x"}, {"path", "/host/work"}}},
      {"write_file", {{"path", "/host/work/new"}, {"content", "lost"}}},
  };
  for (const auto& [tool, arguments] : calls) {
    EXPECT_THAT(Error(tool, arguments),
                AllOf(HasSubstr("it is not mounted in the guest"),
                      HasSubstr("limactl stop default"), HasSubstr("limactl start default")))
        << tool;
  }
  EXPECT_THAT(Error("glob", {{"pattern", "*"}}), HasSubstr("not mounted")) << "the default path";
  EXPECT_EQ(Files("work"), std::set<std::string>{"there"});
}

TEST_F(MountCheckTest, MountPointThatIsNotEvenThereIsRefusedTheSameWay) {
  check->states[kWork].mounted = false;
  fs::remove_all(top / "work");
  EXPECT_THAT(Error("read_file", {{"path", "/host/work/a/b"}}), HasSubstr("not mounted"));
  EXPECT_THAT(Error("write_file", {{"path", "/host/work/a"}, {"content", ""}}),
              HasSubstr("not mounted"));
}

TEST_F(MountCheckTest, GuestNameOfTheMountIsRefusedToo) {
  check->states[kWork].mounted = false;
  EXPECT_THAT(Error("list_directory", {{"path", (top / "work").string()}}),
              HasSubstr("not mounted"));
}

TEST_F(MountCheckTest, MountThatAppearsLaterWorks) {
  check->states[kWork].mounted = false;
  EXPECT_THAT(Error("read_file", {{"path", "/host/work/a"}}), HasSubstr("not mounted"));
  check->states[kWork].mounted = true;
  Put("work/a", "text");
  EXPECT_EQ(Content({{"path", "/host/work/a"}}), "text");
}

TEST_F(MountCheckTest, OthersGoOnWorking) {
  check->states[kWork].mounted = false;
  check->states[kInner].mounted = true;
  Put("work/inner/a", "inner");
  EXPECT_EQ(Content({{"path", "/host/inner/a"}}), "inner");
  EXPECT_EQ(Content({{"path", (top / "work/inner/a").string()}}), "inner");
}

TEST_F(MountCheckTest, NestedMountIsRefusedWhereTheOuterOneIsThere) {
  check->states[kInner].mounted = false;
  Put("work/a", "outer");
  EXPECT_EQ(Content({{"path", "/host/work/a"}}), "outer");
  EXPECT_THAT(Error("write_file", {{"path", "/host/work/inner/a"}, {"content", ""}}),
              HasSubstr(": /host/inner (at "));
}

TEST_F(MountCheckTest, LinkIntoAMountThatIsNotMountedIsRefused) {
  check->states[kInner].mounted = false;
  fs::create_symlink(top / "work/inner", top / "local/link");
  EXPECT_THAT(Error("write_file", {{"path", (top / "local/link/a").string()}, {"content", ""}}),
              HasSubstr(": /host/inner (at "));
  EXPECT_THAT(Files("work"), IsEmpty());
}

TEST_F(MountCheckTest, RootThatIsNoMountIsNeverChecked) {
  for (MountState& state : check->states) state.mounted = false;
  Call("write_file", {{"path", (top / "local/a").string()}, {"content", "text"}});
  EXPECT_EQ(Content({{"path", (top / "local/a").string()}}), "text");
  EXPECT_EQ(check->asked, 0);
}

TEST_F(MountCheckTest, NarrowedRootBelongsToItsMount) {
  fs::create_directory(top / "work/sub");
  options_.roots = {{.host = "/host/work/sub", .guest = top / "work/sub", .writable = true}};
  UseRules(options_);
  check->states[kWork].mounted = false;
  EXPECT_THAT(Error("write_file", {{"path", "/host/work/sub/a"}, {"content", ""}}),
              HasSubstr(": /host/work (at "));
  check->states[kWork].mounted = true;
  Call("write_file", {{"path", "/host/work/sub/a"}, {"content", "text"}});
  EXPECT_EQ(Get("work/sub/a"), "text");
}

TEST_F(MountCheckTest, ReadingAsksOnceAndWritingOnceMore) {
  Call("write_file", {{"path", "/host/work/a"}, {"content", "text"}});
  EXPECT_EQ(check->asked, 2);
  Content({{"path", "/host/work/a"}});
  EXPECT_EQ(check->asked, 3);
  Call("list_directory", {{"path", "/host/work"}});
  EXPECT_EQ(check->asked, 4);
}

/// The mount vanishes when a file has just been opened for writing.
class VanishingMountTest : public MountCheckTest {
 protected:
  VanishingMountTest() {
    guest->set_hook([this](Operation operation, const std::string& path) {
      const bool writes =
          path.find(kTemporaryPrefix) != std::string::npos || path.ends_with("/linked");
      if (operation == Operation::kOpen && writes) check->states[kWork].mounted = false;
    });
  }
};

TEST_F(VanishingMountTest, NewFileIsNotPutIntoTheDirectoryBeneath) {
  EXPECT_THAT(Error("write_file", {{"path", "/host/work/new"}, {"content", "lost"}}),
              HasSubstr("not mounted"));
  EXPECT_THAT(Files("work"), IsEmpty());
}

TEST_F(VanishingMountTest, ExistingFileStaysAsItWas) {
  Put("work/a", "old");
  EXPECT_THAT(Error("write_file", {{"path", "/host/work/a"}, {"content", "new"}}),
              HasSubstr("not mounted"));
  EXPECT_EQ(Get("work/a"), "old");
  EXPECT_EQ(Files("work"), std::set<std::string>{"a"});
}

TEST_F(VanishingMountTest, FileThatIsWrittenInPlaceStaysAsItWas) {
  Put("work/linked", "old");
  fs::create_hard_link(top / "work/linked", top / "work/other");
  EXPECT_THAT(Error("write_file", {{"path", "/host/work/linked"}, {"content", "new"}}),
              HasSubstr("not mounted"));
  EXPECT_EQ(Get("work/other"), "old");
}

class StaleReadsTest : public MountCheckTest {
 protected:
  StaleReadsTest() { check->states[kStale].reads_may_be_stale = true; }

  /// What the guest remembers, and what the host has now. A shorter file is filled up with NUL.
  void PutBoth(const std::string& name, const std::string& remembered, std::string now) const {
    Put("stale/" + name, remembered);
    if (now.size() < remembered.size()) now.resize(remembered.size(), '\0');
    Put("fresh/" + name, now);
  }
};

TEST_F(StaleReadsTest, ReadFileReadsPastTheCache) {
  PutBoth("same", "old text", "new text");
  EXPECT_EQ(Content({{"path", "/host/stale/same"}}), "new text");
  PutBoth("grown", "old", std::string(3'000'000, 'n'));
  EXPECT_EQ(Content({{"path", "/host/stale/grown"}}), std::string(3'000'000, 'n'));
  PutBoth("filled", "", "new");
  EXPECT_EQ(Content({{"path", "/host/stale/filled"}}), "new");
  EXPECT_THAT(Notes("read_file", {{"path", "/host/stale/same"}}), IsEmpty());
  EXPECT_THAT(guest->scripts.front(), HasSubstr("iflag=nocache"));
}

TEST_F(StaleReadsTest, FileThatHasBecomeShorterEndsWhereTheHostsDoes) {
  PutBoth("shrunk", "a long old text\n", "new\n");
  EXPECT_EQ(Content({{"path", "/host/stale/shrunk"}}), "new\n");
  EXPECT_THAT(Notes("read_file", {{"path", "/host/stale/shrunk"}}),
              testing::ElementsAre(HasSubstr("12 NUL bytes")));
  PutBoth("emptied", "text", "");
  EXPECT_EQ(Content({{"path", "/host/stale/emptied"}}), "");
}

TEST_F(StaleReadsTest, NulBytesThatTheGuestCannotHaveMadeUpStay) {
  const std::string text = std::string(1000, 'n') + std::string(2, '\0');
  PutBoth("grown", "old", text);
  EXPECT_EQ(Content({{"path", "/host/stale/grown"}}), text);
  EXPECT_THAT(Notes("read_file", {{"path", "/host/stale/grown"}}), IsEmpty());
}

TEST_F(StaleReadsTest, RangesOfLinesAreReadPastTheCacheToo) {
  PutBoth("lines", "old 0\nold 1\n", "new 0\nnew 1\nnew 2\nnew 3\n");
  EXPECT_EQ(Content({{"path", "/host/stale/lines"}, {"offset", 1}, {"limit", 2}}),
            "new 1\nnew 2\n");
  EXPECT_EQ(Content({{"path", "/host/stale/lines"}, {"offset", 3}}), "new 3\n");
  EXPECT_THAT(Error("read_file", {{"path", "/host/stale/lines"}, {"offset", 4}}),
              HasSubstr("has 4 lines"));
}

TEST_F(StaleReadsTest, LinesBeyondTheFirstWindowAreFound) {
  std::string text;
  while (text.size() < 2 * kDirectReadWindow + 1000) text += std::string(999, 'x') + "\n";
  text += "last\n";
  for (const std::size_t remembered : {std::size_t{3}, kDirectReadWindow + 7, text.size()}) {
    PutBoth("large", std::string(remembered, 'o'), text);
    const auto last = static_cast<std::uint64_t>(text.size() / 1000);
    EXPECT_EQ(Content({{"path", "/host/stale/large"}, {"offset", last}}), "last\n") << remembered;
  }
}

TEST_F(StaleReadsTest, CapsAreTheSame) {
  PutBoth("large", "small", std::string((std::size_t{32} << 20) + 1, 'x'));
  EXPECT_THAT(Error("read_file", {{"path", "/host/stale/large"}}), HasSubstr("read it in parts"));
  PutBoth("largest", "small", std::string(std::size_t{32} << 20, 'x'));
  EXPECT_EQ(Content({{"path", "/host/stale/largest"}}).size(), std::size_t{32} << 20);
}

TEST_F(StaleReadsTest, NamesAreQuoted) {
  const std::string name = "a 'b' $(touch pwned) \"c\"\n;d";
  PutBoth(name, "old", "new");
  EXPECT_EQ(Content({{"path", "/host/stale/" + name}}), "new");
}

TEST_F(StaleReadsTest, WhereTheGuestCannotReadPastItsCacheThatIsSaid) {
  guest->can_read_directly = false;
  PutBoth("file", "old", "new");
  EXPECT_EQ(Content({{"path", "/host/stale/file"}}), "old");
  EXPECT_THAT(Notes("read_file", {{"path", "/host/stale/file"}}),
              testing::ElementsAre(AllOf(HasSubstr("/host/stale"), HasSubstr("limactl edit"),
                                         HasSubstr("9p: {cache: mmap}"))));
}

TEST_F(StaleReadsTest, WhatListsOrSearchesSaysSo) {
  Put("stale/a", "text");
  Put("fresh/a", "text");
  const auto said = testing::Contains(AllOf(HasSubstr("/host/stale"), HasSubstr("cache: mmap")));
  EXPECT_THAT(Notes("list_directory", {{"path", "/host/stale"}}), said);
  EXPECT_THAT(Notes("glob", {{"pattern", "*"}, {"path", "/host/stale"}}), said);
  EXPECT_THAT(Notes("search_file_content", {{"pattern", "text"}, {"path", "/host/stale"}}), said);
}

TEST_F(StaleReadsTest, SearchFromAboveSaysSoOfTheMountWithin) {
  check->states[kInner].reads_may_be_stale = true;
  EXPECT_THAT(Notes("glob", {{"pattern", "**"}, {"path", "/host/work"}}),
              testing::ElementsAre(HasSubstr("/host/inner")));
  fs::create_directory(top / "work/other");
  EXPECT_THAT(Notes("glob", {{"pattern", "**"}, {"path", "/host/work/other"}}), IsEmpty());
}

TEST_F(StaleReadsTest, ReplaceWritesWhatTheHostHasNowOrNothing) {
  options_.roots[kStale].writable = options_.mounts[kStale].writable = true;
  UseRules(options_);
  const json edit = {{"path", "/host/stale/file"}, {"old_string", "text"}, {"new_string", "words"}};
  PutBoth("file", "old text", "new text");
  Call("replace", edit);
  EXPECT_EQ(Get("stale/file"), "new words");
  PutBoth("file", "a long old text", "new text");
  EXPECT_THAT(Error("replace", edit), HasSubstr("nothing was changed. Left out at the end: 7 NUL"));
  guest->can_read_directly = false;
  PutBoth("file", "old text", "new text");
  EXPECT_THAT(Error("replace", edit), HasSubstr("limactl edit"));
  EXPECT_EQ(Get("stale/file"), "old text");
}

TEST_F(StaleReadsTest, OtherMountsAreReadAsEver) {
  Put("work/a", "text");
  EXPECT_EQ(Content({{"path", "/host/work/a"}}), "text");
  EXPECT_THAT(Notes("list_directory", {{"path", "/host/work"}}), IsEmpty());
  EXPECT_THAT(guest->scripts, IsEmpty());
}

}  // namespace
}  // namespace tools
