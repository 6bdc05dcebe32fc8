#include <optional>
#include <string>

#include "unit/copy/copy_fixture.h"

namespace copy {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The guest's work is a commit that only the side repository has.
class TakeTest : public CopyTest {
 protected:
  TakeTest() {
    side.emplace(Place());
    side->Prepare(ReadProject(project, Users()));
    const std::string head = Run({"rev-parse", "HEAD"});
    side->Save({.project = project.string(),
                .directory = "/copy",
                .branch = "main",
                .sent = head,
                .base = head,
                .applied = head});
  }

  Git Users() { return Git::Users(project, side->lock()); }
  /// On top of what was sent.
  std::string MakeWork(const std::string& message, std::string tree = "") {
    if (tree.empty()) tree = side->facts().sent + "^{tree}";
    const Git git = side->git().With({{"GIT_AUTHOR_NAME", "a"},
                                      {"GIT_AUTHOR_EMAIL", "b"},
                                      {"GIT_COMMITTER_NAME", "a"},
                                      {"GIT_COMMITTER_EMAIL", "b"}});
    std::string work =
        git.Require({"commit-tree", "-p", side->facts().sent, "-m", message, tree}, "commit-tree");
    CopyFacts facts = side->facts();
    facts.work = work;
    side->Save(facts);
    return work;
  }
  std::string Tip(const std::string& branch) { return Run({"rev-parse", "refs/heads/" + branch}); }

  std::optional<SideRepository> side;
};

TEST_F(TakeTest, MovesTheBranchThatIsOurs) {
  MakeWork("first");
  EXPECT_EQ(TakeBranch(Users(), *side, "agent/main").branch, "agent/main");
  const std::string second = MakeWork("second");  // no descendant
  EXPECT_EQ(TakeBranch(Users(), *side, "agent/main").branch, "agent/main");
  EXPECT_EQ(Tip("agent/main"), second);
  EXPECT_TRUE(TakeBranch(Users(), *side, "agent/main").had_it);
  EXPECT_THAT(Run({"reflog", "agent/main"}), HasSubstr("limactl mcp take"));
}

TEST_F(TakeTest, KnowsItsBranchAfterAKill) {
  MakeWork("first");
  TakeBranch(Users(), *side, "agent/main");
  CopyFacts facts = side->facts();
  facts.taken = "";  // killed before it was recorded
  side->Save(facts);
  const std::string second = MakeWork("second");
  EXPECT_EQ(TakeBranch(Users(), *side, "agent/main").branch, "agent/main");
  EXPECT_EQ(Tip("agent/main"), second);
}

TEST_F(TakeTest, BoundsThePatchThatIsApplied) {
  const Git& git = side->git();
  const std::string blob = git.Require({"hash-object", "-w", "--stdin"}, "blob", "two\n");
  const std::string tree = git.Require({"mktree"}, "tree", "100644 blob " + blob + "\tfile.txt\n");
  MakeWork("work", tree);
  EXPECT_EQ(ErrorOf([&] { ApplyWork(Users(), *side, 10); }),
            "The patch has more than 10 bytes (--max-size). Nothing was changed.");
  EXPECT_EQ(ReadFile(project / "file.txt"), "one\n");
  ApplyWork(Users(), *side, kMaxSize);
  EXPECT_EQ(ReadFile(project / "file.txt"), "two\n");
}

TEST_F(TakeTest, LeavesABranchOfTheUsersAlone) {
  Run({"commit", "-q", "--allow-empty", "-m", "mine"});
  Run({"branch", "agent/main"});
  const std::string mine = Tip("agent/main");
  const std::string work = MakeWork("work");
  EXPECT_EQ(TakeBranch(Users(), *side, "agent/main").branch, "agent/main-2");
  EXPECT_EQ(Tip("agent/main"), mine);
  EXPECT_EQ(Tip("agent/main-2"), work);
}

TEST_F(TakeTest, LeavesACheckedOutBranchAlone) {
  Run({"checkout", "-q", "-b", "agent/main"});
  MakeWork("work");
  EXPECT_EQ(TakeBranch(Users(), *side, "agent/main").branch, "agent/main-2");
}

TEST_F(TakeTest, RefusesNamesThatCannotBe) {
  EXPECT_THAT(ErrorOf([&] { RequireBranchName(Users(), "a..b"); }), StartsWith("\"a..b\" cannot"));
  EXPECT_THAT(ErrorOf([&] { RequireBranchName(Users(), "-d"); }), StartsWith("\"-d\" cannot"));
  Run({"branch", "agent"});
  EXPECT_EQ(ErrorOf([&] { RequireBranchName(Users(), "agent/main"); }),
            "A branch \"agent\" is in the way of \"agent/main\": --branch NAME.");
}

TEST_F(TakeTest, AddsOnePackAndNothingElse) {
  MakeWork("work");
  const std::string before = Run({"count-objects", "-v"});
  TakeBranch(Users(), *side, "agent/main");
  EXPECT_THAT(before, HasSubstr("packs: 0"));
  EXPECT_THAT(Run({"count-objects", "-v"}), HasSubstr("packs: 1"));
  EXPECT_THAT(Run({"for-each-ref", "--format=%(refname)"}),
              "refs/heads/agent/main\nrefs/heads/main");
}

}  // namespace
}  // namespace copy
