// SPDX-License-Identifier: Apache-2.0
// Each kind of repository goes to the guest and comes back, and the user's stays as it is.

#include <sstream>

#include "integration/copy_fixture.h"

namespace integration {
namespace {

struct Kind {
  std::string name;
  std::string script;                  ///< in the directory of a project that `start` made
  std::vector<std::string> said = {};  ///< on stderr of `copy`; none: nothing is said
  /// What the copy has instead of the working tree's file.
  Files instead = {};
  std::string branch = "main";
  std::string start = "base project";
};

const std::vector<Kind> kPlainKinds = {
    {"clean", ""},
    {"staged, unstaged and untracked", R"sh(
      echo staged >> file.txt; git add file.txt; echo unstaged >> file.txt
      echo new > new.txt; echo added > added.txt; git add added.txt; git rm -q --cached tool.sh
      mkdir -p some/deep; echo deep > some/deep/file)sh"},
    {"deleted", "echo x > x; echo y > y; commit; rm x; git rm -q y"},
    {"modes", "chmod +x file.txt; echo run > run; chmod +x run; commit; chmod -x run"},
    {"links", R"sh(
      ln -s file.txt link; ln -s /nowhere dangling; ln -s dir to-dir; commit
      rm link; ln -s tool.sh link; rm dir/inner.txt; ln -s ../file.txt dir/inner.txt)sh"},
    {"types that changed", R"sh(
      echo a > a; mkdir b; echo c > b/c; commit
      rm a; mkdir a; echo b > a/b; rm -r b; echo b > b; rm tool.sh; ln -s file.txt tool.sh)sh"},
    {"odd names", R"sh(
      for name in 'a b' "$(printf 'new\nline')" '"' "'" -x ':(glob)*' '\' '*' '[a]' é ' ' '$HOME' \
        "$(printf 'tab\t')" '#' '~'; do echo "$name" > "./$name"; done
      commit; echo more >> ./-x; rm ./' '; echo new > './new "x"')sh"},
    {"branch with a slash", "git switch -qc some/feature", {}, {}, "some/feature"},
    {"detached HEAD", "git checkout -q --detach", {}, {}, "detached"},
    {"changed within a second", R"sh(
      git config core.trustctime false; at='2026-11-01 12:00:00'
      echo aaaa > racy; touch -d "$at" racy; commit
      echo bbbb > racy; touch -d "$at" racy .git/index)sh"},
    {"intent to add", "echo later > later.txt; git add -N later.txt"},
};

const std::vector<Kind> kKindsOfStorage = {
    {"git directory elsewhere",
     "echo x > x",
     {},
     {},
     "main",
     "base project --separate-git-dir=elsewhere.git; cd ../project"},
    {"linked worktree",
     "echo x > x",
     {},
     {},
     "side",
     "base home; git worktree add -q -b side ../project; cd ../project"},
    {"relative alternates", "echo x >> file.txt", {}, {}, "main", R"sh(
      base origin; cd ..; git clone -qs origin project; cd project
      echo ../../../origin/.git/objects > .git/objects/info/alternates)sh"},
    {"SHA-256", "echo x >> file.txt", {}, {}, "main", "base project --object-format=sha256"},
    {"split index", R"sh(
      git config splitIndex.maxPercentChange 100; git update-index --split-index
      echo x > x; git add x; echo y >> file.txt)sh"},
    {"untracked cache", "git update-index --untracked-cache; git status -s; echo x > x"},
    {"locked index", "echo x > x; : > .git/index.lock"},
    {"no index", "echo x >> file.txt; rm .git/index"},
    {"replaced objects", R"sh(
      echo x >> file.txt; commit; git replace HEAD HEAD~
      git replace "$(git rev-parse HEAD:file.txt)" "$(git rev-parse HEAD~:file.txt)")sh"},
    {"bare repository inside", "git init -q --bare inner.git; echo x > inner.git/file"},
};

const std::vector<Kind> kConfiguredKinds = {
    {"programs in the configuration", R"sh(
      trap=$(cd ../..; pwd)/trap; echo '*.txt diff=x' > .gitattributes; commit
      for hook in pre-commit post-index-change reference-transaction post-checkout \
        pre-auto-gc; do ln -s "$trap" .git/hooks/$hook; done
      for key in core.fsmonitor core.pager core.editor core.sshCommand core.alternateRefsCommand \
        diff.external diff.x.textconv diff.x.command gpg.program credential.helper \
        hook.a.command; do git config $key "$trap"; done
      git config hook.a.event post-index-change; git config commit.gpgSign true
      git config log.showSignature true; git config push.gpgSign true
      git config "url.ext::$trap .insteadOf" /; git config protocol.ext.allow always
      echo x >> file.txt)sh"},
    {"identity that only the configuration may give",
     "git config user.useConfigOnly true; echo > x"},
    {"clean and smudge",
     R"sh(
      git config filter.rot.clean 'tr a-z n-za-m'; git config filter.rot.smudge 'tr a-z n-za-m'
      echo '*.rot filter=rot' > .gitattributes; echo hello > a.rot; commit; echo hallo > a.rot)sh",
     {"a.rot"},
     {{"a.rot", "- unyyb\n"}}},
    {"autocrlf",
     R"sh(
      git config core.autocrlf true; git config core.safecrlf true
      printf 'a\r\n' > a; git -c core.safecrlf=false add a; git commit -qm a; printf 'b\r\n' > b)sh",
     {},
     {{"a", "- a\n"}, {"b", "- b\n"}}},
    {"attributes that convert", R"sh(
      printf '%s\n' 'a text eol=crlf' '*.c ident' > .gitattributes; printf 'a\r\n' > a
      echo '$Id$' > a.c; commit; rm a a.c; git checkout -q a a.c; printf 'b\r\n' >> a)sh"},
    {"sparse",
     R"sh(
      mkdir other; echo y > other/y; commit; git sparse-checkout set dir
      mkdir other; echo stray > other/stray; echo x > dir/x)sh",
     {},
     {{"other/y", "- y\n"}}},
    {"sparse index",
     R"sh(
      mkdir other; echo y > other/y; commit; git sparse-checkout set --sparse-index dir; echo x > x)sh",
     {},
     {{"other/y", "- y\n"}}},
    {"shallow",
     "echo x >> file.txt",
     {},
     {},
     "main",
     "base origin; echo x > x; commit; cd ..; git clone -q --depth 1 \"file://$PWD/origin\" "
     "project; "
     "cd project"},
};

const std::vector<Kind> kKindsWithAWord = {
    {"partial clone", "echo x >> file.txt", {"partial clone"}, {}, "main", R"sh(
      base origin; git config uploadpack.allowFilter true; echo x >> file.txt; commit; cd ..
      git clone -q --filter=blob:none "file://$PWD/origin" project; cd project; rm -rf ../origin)sh"},
    {"ignored files",
     R"sh(
      printf '*.log\n/target\n' > .gitignore; echo .env > .git/info/exclude; commit; mkdir target
      echo secret > .env; echo log > a.log; echo o > target/a.o; echo log > b.log; git add -f b.log)sh",
     {"ignored"}},
    {"large file", "truncate -s 50000001 large.bin", {"large.bin"}},
    {"FIFO in the place of a file",
     "echo x > pipe; commit; rm pipe; mkfifo pipe",
     {"pipe"},
     {{"pipe", "- x\n"}}},
    {"merge in progress",
     R"sh(
      git switch -qc other; echo other > dir/inner.txt; commit; git switch -q main
      echo main > dir/inner.txt; commit; ! git merge other >/dev/null)sh",
     {"merge"}},
    {"rebase in progress",
     R"sh(
      git switch -qc other; echo other > dir/inner.txt; commit; git switch -q main
      echo main > dir/inner.txt; commit; ! git rebase other >/dev/null 2>&1)sh",
     {"rebase"},
     {},
     "detached"},
    {"assumed unchanged",
     R"sh(
      echo a > assumed; echo b > skipped; commit; git update-index --assume-unchanged assumed
      git update-index --skip-worktree skipped; echo changed > assumed; echo changed > skipped)sh",
     {"assumed", "skipped"},
     {{"assumed", "- a\n"}, {"skipped", "- b\n"}}},
    {"Git LFS",
     R"sh(
      echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes
      printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' > a.bin; commit)sh",
     {"LFS"}},
};

const std::vector<Kind> kKindsWithRepositoriesInside = {
    {"submodule that moved",
     R"sh(
      base ../library; cd ../project; git -c protocol.file.allow=always submodule --quiet add \
        "$PWD/../library" sub
      commit; cd sub; echo x > x; commit; cd ..)sh",
     {"sub"}},
    {"nested repository", "base nested; cd ..", {"nested"}},
    {"nested repository without a commit", "git init -q nested; echo x > nested/x", {"nested"}},
    {"nested repository that is tracked",
     "base nested; cd ..; git add nested 2>/dev/null",
     {"nested"}},
};

/// What an agent does: a commit, and changes of each sort that are not committed.
const std::string kWorkOfTheAgent = R"sh(
  echo agent >> file.txt; git commit -qam 'By the agent'
  mkdir agent; printf 'a\0b\377' > agent/binary; ln -s ../file.txt agent/link
  rm gone.txt; chmod +x dir/inner.txt)sh";
const std::vector<std::string> kTouched = {"file.txt", "agent/binary", "agent/link", "gone.txt",
                                           "dir/inner.txt"};

class Kinds : public CopyTest {
 protected:
  /// The files that git knows or would add, as they must be in the copy.
  Files Expected(const Kind& kind) const {
    const Files files = FilesOf(project);
    Files expected;
    std::istringstream names(InProject("git ls-files -z -co --exclude-standard"));
    for (std::string name; std::getline(names, name, '\0');) {
      if (files.contains(name)) expected[name] = files.at(name);
    }
    for (const auto& [name, text] : kind.instead) expected[name] = text;
    return expected;
  }

  void ComesToTheCopy(const Kind& kind) {
    const ProcessResult sent = SendCopy();
    if (kind.said.empty()) {
      EXPECT_THAT(sent.error,
                  ::testing::MatchesRegex(
                      "(Note: [0-9]+ untracked files? copied, too: .*)?Copied to agent:.*"));
    }
    for (const std::string& text : kind.said) EXPECT_THAT(sent.error, HasSubstr(text));
    EXPECT_EQ(FilesOf(copy), Expected(kind));
    EXPECT_EQ(InCopy("git rev-parse HEAD"), InProject("git rev-parse HEAD"));
    EXPECT_EQ(InCopy("git symbolic-ref --short HEAD"), kind.branch);
  }

  void GoesBackAsAPatch() {
    const std::string patch = Succeed({"diff"}).output;
    testing_support::WriteFile(project.parent_path() / "patch", patch);
    InProject("cp -a . ../second; cd ../second; git apply ../patch; cd ..; rm patch");
    const Files second = FilesOf(project.parent_path() / "second");
    fs::remove_all(project.parent_path() / "second");
    ExpectWorkIn(second, FilesOf(project));
  }

  void GoesIntoTheWorkingTree() {
    const Files before = FilesOf(project);
    EXPECT_THAT(Succeed({"take", "--apply", "--yes"}).output, HasSubstr("changed in the working"));
    ExpectWorkIn(FilesOf(project), before);
    EXPECT_EQ(Succeed({"take", "--apply"}).output, "Nothing to take.\n");
  }

  /// `second` is the agent's work upon `others`.
  void ExpectWorkIn(Files second, Files others) {
    const Files in_copy = FilesOf(copy);
    for (const std::string& name : kTouched) {
      ASSERT_EQ(second.contains(name), in_copy.contains(name)) << name;
      others.erase(name);
      if (!in_copy.contains(name)) continue;
      std::string text = second.extract(name).mapped();
      std::erase(text, '\r');  // core.autocrlf
      EXPECT_EQ(text, in_copy.at(name)) << name;
    }
    EXPECT_EQ(second, others) << "what the agent did not touch";
  }

  void ComesBackAsABranch(const Kind& kind, const Snapshot& before) {
    const std::string branch = "agent/" + kind.branch;
    EXPECT_THAT(Succeed({"take"}).output, HasSubstr(branch));
    EXPECT_THAT(ChangesButABranch(before, SnapshotOf(project.parent_path())), IsEmpty());
    EXPECT_EQ(FilesOfCommit(branch), FilesOf(copy));
    EXPECT_EQ(InProject("git rev-parse " + branch + "~:"), InCopy("git rev-parse HEAD:"));
    EXPECT_EQ(InProject("git log -1 --format=%gs -g " + branch), "limactl mcp take");
    EXPECT_EQ(InProject("git merge-base HEAD " + branch), InProject("git rev-parse HEAD"));
  }

  void ComeAndGo(const std::vector<Kind>& kinds) {
    StartAgent();
    MakeTrap();
    int number = 0;
    for (const Kind& kind : kinds) {
      SCOPED_TRACE(kind.name);
      MakeProject(std::to_string(++number), kind.start + "\n" + kind.script);
      const fs::path all = project.parent_path();
      const Snapshot before = SnapshotOf(all);
      ComesToTheCopy(kind);
      EXPECT_THAT(Changes(before, SnapshotOf(all)), IsEmpty());
      InCopy(kWorkOfTheAgent);
      GoesBackAsAPatch();
      ASSERT_NO_FATAL_FAILURE(ComesBackAsABranch(kind, before));
      GoesIntoTheWorkingTree();
      EXPECT_EQ(Ran("on-host"), "");
      fs::remove(Path("ran-on-host"));
    }
  }
};

TEST_F(Kinds, PlainOnes) {
  ComeAndGo(kPlainKinds);
}

TEST_F(Kinds, OnesThatGitStoresInAnotherWay) {
  ComeAndGo(kKindsOfStorage);
}

TEST_F(Kinds, ConfiguredOnes) {
  ComeAndGo(kConfiguredKinds);
}

TEST_F(Kinds, OnesWithAWord) {
  ComeAndGo(kKindsWithAWord);
}

TEST_F(Kinds, OnesWithRepositoriesInside) {
  ComeAndGo(kKindsWithRepositoriesInside);
}

}  // namespace
}  // namespace integration
