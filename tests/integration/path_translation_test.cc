// Path rules: which paths an agent may write, and what they mean in the guest.

#include <gmock/gmock.h>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PathTranslation : public IntegrationTest {
 protected:
  /// A mount whose directory has one name on the host and another in the guest. The host's does not
  /// exist at all, as nothing of the host does in a real guest.
  void MountMapped() {
    MakeDirectory("guest");
    Mount({{host, Path("guest").string(), true}});
  }

  const std::string host = Path("host/project").string();
};

TEST_F(PathTranslation, HostPathUnderALocationReachesTheMountPoint) {
  MountMapped();
  MakeFile("guest/a.txt", "in the guest");
  EXPECT_EQ(Read(host + "/a.txt"), "in the guest");
}

TEST_F(PathTranslation, WritesAHostPathToTheMountPoint) {
  MountMapped();
  Write(host + "/new/b.txt", "from the host's name");
  EXPECT_EQ(ReadFile(Path("guest/new/b.txt")), "from the host's name");
  EXPECT_FALSE(fs::exists(Path("host")));
}

TEST_F(PathTranslation, GuestPathUnderAMountPointIsAccepted) {
  MountMapped();
  MakeFile("guest/a.txt", "in the guest");
  EXPECT_EQ(Read(Path("guest/a.txt")), "in the guest");
  Write(Path("guest/b.txt"), "b");
  EXPECT_EQ(ReadFile(Path("guest/b.txt")), "b");
}

TEST_F(PathTranslation, PathsInResultsAreTheHosts) {
  MountMapped();
  MakeFile("guest/sub/a.txt", "needle\n");
  EXPECT_THAT(Glob({{"pattern", "**/*.txt"}, {"path", host}}), ElementsAre(host + "/sub/a.txt"));
  EXPECT_THAT(Glob({{"pattern", "**/*.txt"}, {"path", Path("guest")}}),
              ElementsAre(host + "/sub/a.txt"));
}

TEST_F(PathTranslation, TheMountItselfIsAPath) {
  MountMapped();
  MakeFile("guest/a.txt", "");
  EXPECT_THAT(List(host), ElementsAre("a.txt"));
  EXPECT_THAT(List(host + "/"), ElementsAre("a.txt"));
  EXPECT_THAT(List(Path("guest")), ElementsAre("a.txt"));
}

TEST_F(PathTranslation, HostsResolvedSpellingOfALinkedLocationIsAccepted) {
  MakeDirectory("real/project");
  MakeLink("linked", Path("real"));
  MakeFile("guest/a.txt", "in the guest");
  const std::string location = Path("linked/project");
  Mount({{location, Path("guest").string(), true}});
  EXPECT_EQ(Read(location + "/a.txt"), "in the guest");
  EXPECT_EQ(Read(Path("real/project/a.txt")), "in the guest");
  Write(Path("real/project/b.txt"), "b");
  EXPECT_EQ(ReadFile(Path("guest/b.txt")), "b");
  EXPECT_FALSE(fs::exists(Path("real/project/b.txt")));
}

TEST_F(PathTranslation, LinkedLocationWithoutAMountPointWorksInBothSpellings) {
  MakeFile("real/project/a.txt", "text");
  MakeLink("linked", Path("real"));
  const std::string location = Path("linked/project");
  Mount({{location, "", true}});
  EXPECT_EQ(Read(location + "/a.txt"), "text");
  EXPECT_EQ(Read(Path("real/project/a.txt")), "text");
  EXPECT_THAT(Glob({{"pattern", "*.txt"}, {"path", location}}), ElementsAre(location + "/a.txt"));
}

TEST_F(PathTranslation, PathThatIsALocationAndAMountPointIsTheHosts) {
  const std::string both = Path("both");
  MakeFile("both/a.txt", "what the guest has at the name");
  MakeFile("elsewhere/a.txt", "what the host means");
  Mount({{Path("first").string(), both, true}, {both, Path("elsewhere").string(), true}});
  EXPECT_EQ(Read(both + "/a.txt"), "what the host means");
  EXPECT_EQ(Read(Path("first/a.txt")), "what the guest has at the name");
  EXPECT_THAT(Glob({{"pattern", "*"}, {"path", Path("first")}}), ElementsAre(Path("first/a.txt")));
  EXPECT_THAT(Glob({{"pattern", "*"}, {"path", both}}), ElementsAre(both + "/a.txt"));
}

TEST_F(PathTranslation, LongestMatchWins) {
  MakeFile("outer/nested/a.txt", "hidden by the nested mount");
  MakeFile("inner/a.txt", "in the nested mount");
  Mount({{Path("outer").string(), "", true},
         {Path("outer/nested").string(), Path("inner").string(), true}});
  EXPECT_EQ(Read(Path("outer/nested/a.txt")), "in the nested mount");
}

TEST_F(PathTranslation, PrefixOfANameIsNotUnderTheRoot) {
  MakeFile("allow/a.txt", "");
  MakeFile("allow_sensitive/secret.txt", "secret");
  Mount({{Path("allow").string(), "", true}});
  const std::string secret = Path("allow_sensitive/secret.txt");
  EXPECT_THAT(ReadRefusal(secret), HasSubstr(secret));
  EXPECT_THAT(WriteRefusal(Path("allow_sensitive/new")), HasSubstr(Path("allow").string()));
  Refusal("list_directory", {{"path", Path("allow_sensitive")}});
  Refusal("glob", {{"pattern", "*"}, {"path", Path("allow_sensitive")}});
  Refusal("search_file_content", {{"pattern", "secret"}, {"path", Path("allow_sensitive")}});
  EXPECT_FALSE(fs::exists(Path("allow_sensitive/new")));
}

TEST_F(PathTranslation, PrefixOfAMountPointsNameIsNotUnderTheRoot) {
  MakeDirectory("guest");
  MakeFile("guest_sensitive/secret.txt", "secret");
  Mount({{host, Path("guest").string(), true}});
  const auto is_outside = HasSubstr("outside the directories that may be used");
  EXPECT_THAT(ReadRefusal(Path("guest_sensitive/secret.txt")), is_outside);
  EXPECT_THAT(ReadRefusal(host + "_sensitive/secret.txt"), is_outside);
}

TEST_F(PathTranslation, NameThatStartsWithTwoDotsIsAName) {
  MakeFile("root/..foo/..bar", "two dots");
  Mount({{Path("root").string(), "", true}});
  EXPECT_EQ(Read(Path("root/..foo/..bar")), "two dots");
  Write(Path("root/..new"), "x");
  EXPECT_EQ(ReadFile(Path("root/..new")), "x");
}

TEST_F(PathTranslation, LocationWithATrailingSlashIsTheSameRoot) {
  MakeFile("root/a.txt", "text");
  MakeFile("root_other/a.txt", "secret");
  Mount({{Path("root").string() + "/", "", false}});
  EXPECT_EQ(Read(Path("root/a.txt")), "text");
  EXPECT_THAT(Glob({{"pattern", "*"}, {"path", Path("root")}}), ElementsAre(Path("root/a.txt")));
  ReadRefusal(Path("root_other/a.txt"));
}

TEST_F(PathTranslation, RootDirectoryAsARootHoldsEverything) {
  MakeFile("anywhere/a.txt", "text");
  Mount({{Path("root").string(), "", true}}, {"--allow-path", "/"});
  EXPECT_EQ(Read(Path("anywhere/a.txt")), "text");
  EXPECT_THAT(List("/"), ::testing::Contains("etc"));
  EXPECT_THAT(Glob({{"pattern", "*.txt"}, {"path", Path("anywhere")}}),
              ElementsAre(Path("anywhere/a.txt")));
  EXPECT_THAT(WriteRefusal(Path("anywhere/b.txt")), HasSubstr("read-only"));
}

TEST_F(PathTranslation, RootDirectoryOfTheHostIsAMountAtAnotherPlaceOfTheGuest) {
  MakeFile("guest/etc/a.txt", "in the guest");
  Mount({{"/", Path("guest").string(), false}});
  EXPECT_EQ(Read("/etc/a.txt"), "in the guest");
  EXPECT_THAT(List("/"), ElementsAre("etc"));
  EXPECT_THAT(Glob({{"pattern", "*.txt"}, {"path", "/etc"}}), ElementsAre("/etc/a.txt"));
  EXPECT_THAT(WriteRefusal("/etc/b.txt"), HasSubstr("read-only"));
}

TEST_F(PathTranslation, TemplateInALocationIsExpanded) {
  MakeFile("lima/default/shared/a.txt", "in the instance directory");
  Mount({{"{{.Dir}}/shared", "", false}});
  EXPECT_EQ(Read((LimaHome() / "default/shared/a.txt")), "in the instance directory");
}

TEST_F(PathTranslation, TildeInALocationIsTheHomeDirectory) {
  MakeFile("project/a.txt", "at home");  // HOME is this test's directory
  Mount({{"~/project", "", false}});
  EXPECT_EQ(Read(Path("project/a.txt")), "at home");
}

}  // namespace
}  // namespace integration
