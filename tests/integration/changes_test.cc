// `limactl mcp changes`: what is printed of each thing that a guest may plant in a mounted project.

#include <unistd.h>

#include <set>

#include "integration/mount_fixture.h"

namespace integration {
namespace {

struct Planted {
  std::string before;  ///< script, before the baseline
  std::string script;  ///< of the guest
  Command lines;       ///< what is printed; none: nothing
  /// Which key of `.git/config` the script sets. Rows with other keys share a project: what one has
  /// set belongs to the baseline of the next.
  std::string key = {};
};

const std::string kFirst = "Programs of this host run or obey:";
const std::string kLinks = "Links that may lead out of the project:";
const std::string kExecutables = "New executables:";
const std::string kHidden = "Names with characters that are not seen:";

const std::string kCommand = ": git: its value is a shell command";
const std::string kInclude = ": git: reads configuration from any file";
const std::string kDriver = ": git: filters and diff drivers are commands";
const std::string kPager = ": git: pagers and signature programs are commands";
const std::string kTransport = ": git: transports and missing objects run commands";
const std::string kKey = ": git: keys are commands";
const std::string kInGit = ": git: hooks and settings are commands; a file names another directory";
const std::string kBare = ": git: makes its directory a repository, whose settings are commands";

/// A key of `.git/config`.
Planted Key(const std::string& key, const std::string& value, const std::string& reason,
            const std::string& printed) {
  return {"",
          "git config " + key + " '" + value + "'",
          {kFirst, "  .git/config (" + printed + ")" + reason},
          key};
}
Planted Key(const std::string& key, const std::string& reason) {
  return Key(key, "/x", reason, key);
}
Planted HarmlessKey(const std::string& key, const std::string& value) {
  return {"", "git config " + key + " '" + value + "'", {}, key};
}

class Changes : public MountTest {
 protected:
  void Check(const std::vector<Planted>& rows) {
    std::set<std::string> keys;  // of the project; none: no other row may use it
    const auto can_share = [&](std::size_t i) {
      return i < rows.size() && !keys.empty() && !rows[i].key.empty() &&
             !keys.contains(rows[i].key);
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Planted& row = rows[i];
      SCOPED_TRACE(row.script);
      if (!can_share(i)) {
        MakeProject(std::to_string(i));
        Script(row.before);
        Succeeds({"changes", "--accept"});
        keys.clear();
      }
      if (!row.key.empty()) keys.insert(row.key);
      Script(row.script);
      const ProcessResult result = Mcp({"changes"});
      EXPECT_EQ(result.error, "");
      Command lines = LinesOf(result.output);
      ASSERT_FALSE(lines.empty());
      EXPECT_THAT(lines.back(), HasSubstr("Source code is not judged, and the guest can change"));
      if (row.lines.empty()) {
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_EQ(lines.size(), 1U) << result.output;
        EXPECT_THAT(lines.back(), StartsWith("Nothing was changed"));
      } else {
        EXPECT_EQ(result.exit_code, 1);
        ASSERT_GE(lines.size(), 2U);
        lines.resize(lines.size() - 2);
        EXPECT_EQ(lines, row.lines);
      }
      EXPECT_THAT(Succeeds({"changes", "--accept"}), EndsWith("This is the baseline now.\n"));
      // Else the next row sees what this one left.
      if (!can_share(i + 1)) {
        EXPECT_EQ(Mcp({"changes"}).exit_code, 0);
      }
      EXPECT_FALSE(TrapWasRun());
    }
  }
};

TEST_F(Changes, OfGitsSettings) {
  Check({
      Key("core.fsmonitor", kCommand),
      HarmlessKey("core.fsmonitor", "true"),
      HarmlessKey("user.name", "Bob"),
      Key("core.hooksPath", "/x", kCommand, "core.hookspath"),
      Key("hook.a.command", kCommand),
      Key("hook.a.event", kCommand),
      Key("include.path", kInclude),
      Key("includeIf.gitdir:~/.path", "/x", kInclude, "includeif.gitdir:~/.path"),
      Key("core.attributesFile", "/x", kInclude, "core.attributesfile"),
      Key("extensions.worktreeConfig", "true", kInclude, "extensions.worktreeconfig"),
      Key("filter.a.clean", kDriver),
      Key("\"filter.A b.process\"", "/x", kDriver, "filter.A b.process"),
      Key("filter.a.smudge", kDriver),
      Key("diff.external", kDriver),
      Key("diff.a.command", kDriver),
      Key("diff.a.textconv", kDriver),
      Key("core.pager", kPager),
      Key("pager.log", kPager),
      HarmlessKey("pager.log", "false"),
      Key("gpg.program", kPager),
      Key("gpg.ssh.program", kPager),
      Key("gpg.ssh.defaultKeyCommand", "/x", kPager, "gpg.ssh.defaultkeycommand"),
      Key("core.sshCommand", "/x", kTransport, "core.sshcommand"),
      Key("core.gitProxy", "/x", kTransport, "core.gitproxy"),
      Key("remote.a.uploadpack", kTransport),
      Key("remote.a.receivepack", kTransport),
      Key("remote.a.vcs", kTransport),
      Key("remote.a.url", "ext::/x", kTransport, "remote.a.url"),
      HarmlessKey("remote.a.url", "https://example.org/a"),
      Key("remote.a.pushurl", "ext::/x", kTransport, "remote.a.pushurl"),
      HarmlessKey("remote.a.pushurl", "https://example.org/a"),
      Key("remote.pushDefault", "ext::/x", kTransport, "remote.pushdefault"),
      HarmlessKey("remote.pushDefault", "a"),
      Key("branch.a.remote", "ext::/x", kTransport, "branch.a.remote"),
      HarmlessKey("branch.a.remote", "a"),
      Key("branch.a.pushRemote", "ext::/x", kTransport, "branch.a.pushremote"),
      Key("protocol.ext.allow", kTransport),
      Key("protocol.allow", kTransport),
      Key("url.x.insteadOf", "/x", kTransport, "url.x.insteadof"),
      Key("url.x.pushInsteadOf", "/x", kTransport, "url.x.pushinsteadof"),
      Key("extensions.partialClone", "a", kTransport, "extensions.partialclone"),
      Key("remote.a.promisor", "true", kTransport, "remote.a.promisor"),
      Key("core.editor", kKey),
      Key("sequence.editor", kKey),
      Key("alias.a", kKey),
      Key("merge.a.driver", kKey),
      Key("difftool.a.cmd", kKey),
      Key("mergetool.a.cmd", kKey),
      Key("man.a.cmd", kKey),
      Key("browser.a.cmd", kKey),
      Key("difftool.a.path", kKey),
      Key("mergetool.a.path", kKey),
      Key("trailer.a.command", kKey),
      Key("trailer.a.cmd", kKey),
      Key("tar.a.command", kKey),
      Key("sendemail.toCmd", "/x", kKey, "sendemail.tocmd"),
      Key("sendemail.a.ccCmd", "/x", kKey, "sendemail.a.cccmd"),
      Key("sendemail.smtpServer", "/x", kKey, "sendemail.smtpserver"),
      Key("core.alternateRefsCommand", "/x", kKey, "core.alternaterefscommand"),
      Key("submodule.a.update", "!/x", kKey, "submodule.a.update"),
      HarmlessKey("submodule.a.update", "rebase"),
      Key("credential.helper", kKey),
      Key("credential.https://a.b.helper", kKey),
      Key("core.askPass", "/x", kKey, "core.askpass"),
      Key("interactive.diffFilter", "/x", kKey, "interactive.difffilter"),
      {"",
       "git config lfs.customtransfer.a.path /x",
       {kFirst,
        "  .git/config (lfs.customtransfer.a.path): git-lfs: transfer agents are programs"}},
      {"git config core.fsmonitor /x",
       "git config core.fsmonitor /y",
       {kFirst, "  .git/config (core.fsmonitor)" + kCommand}},
      {"git config core.fsmonitor /x",
       "git config --unset core.fsmonitor",
       {kFirst, "  .git/config (core.fsmonitor) (deleted)" + kCommand}},
      {"git config core.fsmonitor /x; git config core.fsmonitor /y", "touch .git/config", {}},
      {"git config alias.a x",
       "git config --add alias.a y",
       {kFirst, "  .git/config (alias.a)" + kKey}},
  });
}

TEST_F(Changes, OfFilesThatGitsSettingsName) {
  Check({
      {"git config include.path ../settings; echo > settings",
       "printf '[core]\\nfsmonitor=/x\\n' > settings",
       {kFirst, "  settings (core.fsmonitor)" + kCommand}},
      {"git config include.path ../settings; echo > settings",
       "printf '[a]\\nb=c\\n' > settings",
       {}},
      {"printf '[include]\\npath=a\\npath=a\\n' | tee a b >> .git/config; "
       "git config --replace-all include.path ../a",
       "printf '[include]\\npath=a\\npath=b\\n[alias]\\nx=y\\n' > b; cp b a",
       {kFirst, "  a (include.path), b (include.path)" + kInclude,
        "  a (alias.x), b (alias.x)" + kKey}},
      {"git config core.hooksPath hooks; mkdir hooks; echo > hooks/text",
       "echo > hooks/pre-commit; chmod +x hooks/pre-commit; echo '#' > hooks/text",
       {kFirst, "  hooks/pre-commit (core.hookspath)" + kCommand, kExecutables,
        "  hooks/pre-commit"}},
      {"git config filter.a.clean './clean %f'; echo > clean",
       "echo '#' > clean",
       {kFirst, "  clean (filter.a.clean)" + kDriver}},
      {"git config core.attributesFile attributes",
       "echo '* filter=x' > attributes",
       {kFirst, "  attributes (core.attributesfile)" + kInclude}},
  });
}

TEST_F(Changes, OfGitsDirectories) {
  Check({
      {"",
       "cp $trap .git/hooks/post-index-change; echo > .git/hooks/pre-push",
       {kFirst, "  .git/hooks/post-index-change" + kInGit, kExecutables,
        "  .git/hooks/post-index-change"}},
      {"",
       "ln -s $trap .git/hooks/pre-commit; rm .git/hooks/pre-push.sample",
       {kFirst, "  .git/hooks/pre-commit" + kInGit, kLinks,
        "  .git/hooks/pre-commit -> " + Path("trap").string()}},
      {"echo > .git/hooks/pre-commit",
       "chmod +x .git/hooks/pre-commit",
       {kFirst, "  .git/hooks/pre-commit" + kInGit, kExecutables, "  .git/hooks/pre-commit"}},
      {"",
       "rm -r .git/hooks; mkdir hooks; ln -s ../hooks .git/hooks",
       {kFirst, "  .git/hooks" + kInGit}},
      {"git config extensions.worktreeConfig true",
       "printf '[core]\\nfsmonitor=/x\\n' > .git/config.worktree",
       {kFirst, "  .git/config.worktree (core.fsmonitor)" + kCommand}},
      {"",
       "echo ../other > .git/commondir; rm .git/commondir; echo . > .git/commondir",
       {kFirst, "  .git/commondir" + kInGit}},
      {"",
       "mv .git other; echo 'gitdir: other' > .git",
       {kFirst, "  .git" + kInGit, "  other/HEAD, other/logs/HEAD" + kBare}},
      {"mkdir x",
       "mv .git x; ln -s x/.git .git",
       {kFirst, "  .git, x/.git" + kInGit, kLinks, "  .git -> x/.git"}},
      {"",
       "echo x >> .git/info/attributes; echo /x > .git/objects/info/alternates",
       {kFirst, "  .git/info/attributes, .git/objects/info/alternates" + kInGit}},
      {"",
       "mkdir .git/rebase-merge .git/sequencer .git/rebase-apply;"
       "echo 'exec x' | tee .git/rebase-merge/git-rebase-todo > .git/sequencer/todo",
       {kFirst,
        "  .git/rebase-apply, .git/rebase-merge/git-rebase-todo, .git/sequencer/todo" + kInGit}},
      {"", "git init -q sub", {kFirst, "  sub/.git" + kInGit}},
      {"git init -q sub",
       "git -C sub config core.fsmonitor /x",
       {kFirst, "  sub/.git/config (core.fsmonitor)" + kCommand}},
      {"git init -q --bare .git/modules/a/b",
       "git -C .git/modules/a/b config core.fsmonitor /x",
       {kFirst, "  .git/modules/a/b/config (core.fsmonitor)" + kCommand}},
      {"git worktree add -q ../$(basename $PWD)-more/worktree",
       "cd .git/worktrees/worktree; echo x > commondir; git config -f config.worktree alias.a b",
       {kFirst, "  .git/worktrees/worktree/commondir" + kInGit,
        "  .git/worktrees/worktree/config.worktree (alias.a)" + kKey}},
      {"", "git init -q --bare lib", {kFirst, "  lib/HEAD" + kBare}},
      {"git init -q --bare lib",
       "git -C lib config core.fsmonitor /x",
       {kFirst, "  lib/HEAD" + kBare}},
      {"git init -q --bare lib", "cp $trap lib/hooks/post-update", {kFirst, "  lib/HEAD" + kBare}},
      {"", "echo '[core' >> .git/config", {kFirst, "  .git/config" + kInGit}},
      {"", "rm .git/config; mkfifo .git/config", {kFirst, "  .git/config" + kInGit}},
      {"", "mv .git/config x; ln -s ../x .git/config", {kFirst, "  .git/config" + kInGit}},
      {"",
       "head -c 2000000 /dev/zero | tr '\\0' '#' >> .git/config",
       {kFirst, "  .git/config" + kInGit}},
      {"",
       "{ printf '[a \"'; head -c 400000 /dev/zero | tr '\\0' a; echo '\"]'; seq -f k%g 500;"
       "printf '[core]\\nfsmonitor=/x\\n'; } >> .git/config",
       {kFirst, "  .git/config" + kInGit}},
      {"",
       "mkdir .hg .jj; echo x > .hg/hgrc; mkdir .jj/repo; echo x > .jj/repo/config.toml",
       {kFirst,
        "  .hg/hgrc, .jj/repo/config.toml: hg, jj: hooks, extensions and aliases are "
        "commands"}},
      {"", "echo two >> file.txt; git add -A; git commit -qm second; git branch x; git gc -q", {}},
  });
}

TEST_F(Changes, OfOtherPrograms) {
  const std::string direnv = ": direnv: a shell script";
  Check({
      {"", "echo x > src.c; mkdir lib; echo > lib/x.rs; ln -s ../file.txt lib/link", {}},
      {"",
       "echo > AGENTS.md; echo > package.json; echo > .yarnrc; echo > .envrc; mkdir .claude;"
       "echo > .claude/settings.json",
       {kFirst, "  .envrc" + direnv, "  .yarnrc: yarn: names the program that runs as yarn",
        "  .claude/settings.json: Claude Code, Copilot CLI: hooks, helpers and servers; read again "
        "while it "
        "runs",
        "  package.json: npm, pnpm, yarn, bun: scripts are commands",
        "  AGENTS.md: agents: instructions"}},
      {"echo > .envrc", "echo x > .envrc", {kFirst, "  .envrc" + direnv}},
      {"echo > .envrc", "rm .envrc", {kFirst, "  .envrc (deleted)" + direnv}},
      {"echo > Makefile", "rm Makefile", {}},
      {"echo > gradlew",
       "chmod +x gradlew",
       {kFirst, "  gradlew: Java builds: scripts, agents and downloads", kExecutables,
        "  gradlew"}},
      {"", "mkdir a; echo > a/.ENVRC", {kFirst, "  a/.ENVRC" + direnv}},
      {"",
       "mkdir .gi$(printf '\\342\\200\\214')t; cd .gi?*t; echo ref > HEAD; git config -f config "
       "alias.a b",
       {kFirst, "  .gi\\xe2\\x80\\x8ct" + kInGit, "  .gi\\xe2\\x80\\x8ct/config (alias.a)" + kKey,
        kHidden, "  .gi\\xe2\\x80\\x8ct", "  .gi\\xe2\\x80\\x8ct/config"}},
      {"", "echo > \"$(printf '.env\\305\\277')\"", {}},
      {"",
       "mkdir sub; ln -s /etc sub/a; ln -s ../.. sub/b; ln -s ../.git/config sub/c",
       {kLinks, "  sub/a -> /etc", "  sub/b -> ../..", "  sub/c -> ../.git/config"}},
      {"ln -s /etc a", "ln -sfn /usr a", {kLinks, "  a -> /usr"}},
      {"", "mkfifo .envrc", {kFirst, "  .envrc" + direnv}},
      {"truncate -s 3G .envrc", "truncate -s 4G .envrc", {kFirst, "  .envrc" + direnv}},
      {"",
       "mkdir -p node_modules/a; echo > node_modules/a/x.js; echo > node_modules/a/.envrc",
       {kFirst, "  node_modules (3 entries): node: modules are looked up there first"}},
      {"mkdir -p node_modules/a; echo > node_modules/a/x.js",
       "echo longer > node_modules/a/x.js",
       {}},
      {"",
       "mkdir -p node_modules/.bin; ln -s ../a node_modules/.bin/tool",
       {kFirst, "  node_modules/.bin/tool: shells: planted programs, if PATH has the directory",
        "  node_modules (2 entries): node: modules are looked up there first"}},
      {"",
       "mkdir tools; echo > tools/git; echo > tools/text; chmod +x tools/git",
       {kFirst, "  tools/git (PATH): shells: your PATH has the directory", kExecutables,
        "  tools/git"}},
      {"mkdir programs; ln -s $PWD/programs ${trap%/*}/linked",
       "cp $trap programs/git",
       {kFirst, "  programs/git (PATH): shells: your PATH has the directory", kExecutables,
        "  programs/git"}},
  });
}

TEST_F(Changes, AreReadWithinBounds) {
  MakeProject("bounds");
  Succeeds({"changes", "--accept"});
  Script(
      "mkdir -p $(seq -s / 40)/a; echo > $(seq -s / 40)/.envrc; mkfifo fifo; truncate -s 9G "
      "Makefile;"
      "i=0; while [ $i -lt 60 ]; do mkdir m$i; echo > m$i/.envrc; i=$((i + 1)); done");
  EXPECT_THAT(Mcp({"changes"}).output, HasSubstr(".envrc and 58 more: direnv: a shell script\n"));
  EXPECT_THAT(Mcp({"changes"}).output, Not(HasSubstr("There is more")));
  Script("rm -r 1; printf '[include]\npath=x\npath=x\n' > x; git config include.path ../x");
  EXPECT_THAT(Mcp({"changes"}).output, AllOf(HasSubstr("  .git/config (include.path), x (inc"),
                                             Not(HasSubstr("There is more"))));
  Script(
      "cd .git && mkdir modules && cd modules && mkdir $(seq 1100) && for i in *; do echo > "
      "$i/HEAD; "
      "echo > $i/config; done");
  EXPECT_THAT(Mcp({"changes"}).output, HasSubstr("There is more than can be examined.\n"));
}

TEST_F(Changes, SayWhatCannotBeRead) {
  MakeProject("one");
  Succeeds({"changes", "--accept"});
  Script(
      "name=$(printf %0250d 0); deep=.; mkdir $name; i=0;"
      "while [ $i -lt 20 ]; do mkdir outer; mv $name outer/$name; mv outer $name; i=$((i + 1)); "
      "done");
  EXPECT_THAT(Mcp({"changes"}).output, StartsWith("There is more than can be examined.\n"));
  if (::geteuid() == 0) return;  // reads all
  for (const std::string directory : {".git/hooks", "sub"}) {
    MakeProject(directory.substr(0, 1));
    Succeeds({"changes", "--accept"});
    Script("mkdir -p " + directory + "; chmod 311 " + directory);
    EXPECT_THAT(Mcp({"changes"}).output, HasSubstr("There is more than can be examined.\n"));
    Script("chmod 755 " + directory);
  }
}

TEST_F(Changes, NeedABaseline) {
  MakeProject("one");
  EXPECT_THAT(Fails({"changes"}), HasSubstr("there is no baseline of " + project +
                                            ": limactl mcp run takes it, or limactl mcp changes "
                                            "--accept\n"));
  EXPECT_EQ(Succeeds({"changes", "--accept"}), "This is the baseline now.\n");
  const auto time = fs::last_write_time(project);
  EXPECT_EQ(Mcp({"changes"}).exit_code, 0);
  EXPECT_EQ(fs::last_write_time(project), time);
  MakeProject("two");
  EXPECT_THAT(Fails({"changes"}), HasSubstr("there is no baseline"));
}

TEST_F(Changes, AreThoseOfTheWholeRepository) {
  MakeProject("one");
  const std::string top = project;
  Script("mkdir -p sub/deep");
  project = top + "/sub";
  Succeeds({"changes", "--accept"});
  Script("echo > ../.envrc; git init -q .");
  for (const std::string& directory : {top, top + "/sub", top + "/sub/deep"}) {
    project = directory;
    const std::string output = Mcp({"changes"}).output;
    EXPECT_THAT(output, HasSubstr("  .envrc: direnv"));
    EXPECT_THAT(output, HasSubstr("  sub/.git: git: "));
    EXPECT_THAT(output, HasSubstr("Changed in " + top + " since the baseline"));
  }
}

TEST_F(Changes, AreThoseOfARepositoryInADirectoryWithABaseline) {
  project = MakeDirectory("projects/all");
  Succeeds({"changes", "--accept"});
  MakeProject("all/one");
  Script("mkdir sub; echo two > file.txt");
  project += "/sub";
  EXPECT_THAT(Succeeds({"diff"}), HasSubstr("+two\n"));
  EXPECT_THAT(Fails({"changes"}), HasSubstr("no baseline of " + Path("projects/all/one").string()));
  Succeeds({"changes", "--accept"});
  Script("echo > ../.envrc");
  EXPECT_THAT(Mcp({"changes"}).output, HasSubstr("  .envrc: direnv"));
  project = Path("projects/all").string();
  EXPECT_THAT(Mcp({"changes"}).output, HasSubstr("  one/.envrc: direnv"));
  project = MakeDirectory("projects/all/two");
  EXPECT_THAT(Mcp({"changes"}).output, HasSubstr("  one/.envrc: direnv"));
}

TEST_F(Changes, AreAcceptedWithWhatIsPrinted) {
  MakeProject("one");
  Succeeds({"changes", "--accept"});
  Script("echo > .envrc");
  EXPECT_THAT(Succeeds({"changes", "--accept"}),
              AllOf(HasSubstr("  .envrc: direnv"), EndsWith("This is the baseline now.\n")));
  EXPECT_EQ(Mcp({"changes"}).exit_code, 0);
}

TEST_F(Changes, BelongToAnInstance) {
  fs::create_directory(Path("lima/mounted"));
  fs::copy(Path("lima/agent/lima.yaml"), Path("lima/mounted/lima.yaml"));
  MakeProject("one");
  Succeeds({"changes", "--accept"});
  EXPECT_THAT(Fails({"changes", "mounted"}), HasSubstr("changes --accept mounted\n"));
  Succeeds({"changes", "mounted", "--accept"});
  Script("echo > .envrc");
  EXPECT_THAT(Mcp({"changes", "mounted"}).output, HasSubstr("changes --accept mounted\n"));
  EXPECT_THAT(Succeeds({"diff", "mounted"}), HasSubstr("+++ b/.envrc\n"));
  Succeeds({"changes", "--accept"});
  EXPECT_EQ(Mcp({"changes", "mounted"}).exit_code, 1);
}

TEST_F(Changes, AreRefusedWithWhatToDo) {
  MakeProject("one");
  MakeFile("lima/apart/lima.yaml", "mounts: []\n");
  EXPECT_THAT(Fails({"changes", "apart"}), HasSubstr("limactl mcp diff shows its copy"));
  EXPECT_THAT(Fails({"diff", "apart"}), HasSubstr("There is no copy of " + project));
  MakeFile("lima/reading/lima.yaml", "mounts: [{location: \"" + project + "\"}]\n");
  for (const char* command : {"changes", "diff"}) {
    EXPECT_THAT(Fails({command, "reading"}), HasSubstr("mounts " + project + " read-only"));
  }
  MakeFile("lima/open/lima.yaml",
           "mounts: [{location: \"" + Path().string() + "\", writable: true}]\n");
  for (const char* command : {"changes", "diff"}) {
    EXPECT_THAT(Fails({command, "open"}), HasSubstr("use an instance without that mount"));
    EXPECT_THAT(Fails({command, "missing"}), HasSubstr("no Lima instance \"missing\""));
  }
}

TEST_F(Changes, TakeADamagedBaselineForNone) {
  MakeProject("one");
  Succeeds({"changes", "--accept"});
  for (const auto& entry : fs::directory_iterator(Path("lima/agent/mcp-copy"))) {
    MakeFile("lima/agent/mcp-copy/" + entry.path().filename().string(), "baseline 1");
  }
  EXPECT_THAT(Fails({"changes"}), HasSubstr("there is no baseline"));
}

}  // namespace
}  // namespace integration
