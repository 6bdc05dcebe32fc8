// SPDX-License-Identifier: Apache-2.0
#include "paths/host_programs.h"

#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "paths/names.h"
#include "support/errors.h"
#include "support/regex.h"
#include "support/words.h"

namespace paths {
namespace {

using enum RunBy;

constexpr Writing kRefused = Writing::kRefused;
constexpr Writing kBesideHead = Writing::kRefusedBesideHead;

// clang-format off
constexpr HostProgram kPrograms[] = {
    // Version control
    {".git/", kLooking, "git", "hooks and settings are commands; a file names another directory", kRefused},
    {"HEAD", kLooking, "git", "makes its directory a repository, whose settings are commands", kRefused},
    {"/config /config.worktree /commondir /hooks/ /info/ /objects/ /worktrees/ /rebase-merge/ /rebase-apply/ /sequencer/", kLooking, "git", "a bare repository's hooks and settings are commands", kBesideHead},
    {".lfsconfig", kLooking, "git-lfs", "settings of transfers", kRefused},
    {".hg/ .jj/ .sl/ .pijul/ .repo/ _darcs/prefs/", kLooking, "hg, jj, sl, pijul, repo, darcs", "hooks, extensions and aliases are commands", kRefused},
    {"CVS/ .svn/", kHarmlessCommand, "cvs, svn", "names a repository, or the program to reach it"},
    {"_FOSSIL_ .fslckout .reviewboardrc", kHarmlessCommand, "fossil, rbt", "names a repository with settings, or is a script"},

    // Shells, prompts, version managers
    {".envrc", kLooking, "direnv", "a shell script", kRefused},
    {".direnv/ .shadowenv.d/", kLooking, "direnv, shadowenv", "scripts for the shell", kRefused},
    {"mise*.toml .mise*/ mise/config.toml .config/mise*/", kLooking, "mise", "environment, hooks and tools", kRefused},
    {".env .env.local .envrc.local .autoenv*", kLooking, "oh-my-zsh, autoenv", "sourced as shell, after a question"},
    {".tool-versions rust-toolchain.toml rust-toolchain lean-toolchain .prototools", kHarmlessCommand, "asdf, rustup, elan, proto", "a version may be a path, or is fetched"},
    {"Makefile GNUmakefile *.mk", kLooking, "make, bash-completion", "runs make to list targets"},

    // Editors
    {".idea/", kLooking, "JetBrains", "watchers, startup tasks and run configurations", kRefused},
    {".helix/", kLooking, "Helix", "a language server is a command", kRefused},
    {".nvim.lua .nvimrc .exrc", kLooking, "Vim, Neovim", "a script", kRefused},
    {".vimrc .lvimrc .lazy.lua .neoconf.json .ycm_extra_conf.py .vim/ .dir-locals*.el", kLooking, "Vim, Neovim, Emacs", "a script, or names a language server"},
    {"*.iml .run/", kLooking, "JetBrains", "run configurations"},
    {"build.rs rust-analyzer.toml rust-project.json .cargo/config.toml .cargo/config", kLooking, "cargo, rust-analyzer", "build scripts, compilers, wrappers and linkers"},
    {"build.zig hie.yaml mix.exs .formatter.exs .credo.exs config/*.exs lakefile.lean lakefile.toml project.clj config.nims analysis_options.yaml buildServer.json .bsp/ .lsp/ omnisharp.json *.csproj *.fsproj *.vbproj *.vcxproj Directory.Build.* *.sbt Package.swift *.xcodeproj/ .luarc.json .luarc.jsonc .luacheckrc .lintr .merlin dune .clj-kondo/ .solargraph.yml", kLooking, "language servers", "the project's model is code"},
    {".venv/ venv/ env/ pyvenv.cfg", kLooking, "Python, editors", "the interpreter is started"},

    // Commands that are taken for harmless
    {".yarnrc.yml .yarnrc .yarn/ .pnpmfile.cjs .pnpmfile.mjs", kHarmlessCommand, "yarn, pnpm", "JavaScript, or names the program to run"},
    {"/*.py /*/__init__.py", kHarmlessCommand, "python", "the working directory is first on the path"},
    {"Gemfile gems.rb *.gemspec .bundle/config Rakefile* Podfile *.podspec Fastfile Dangerfile Guardfile Capfile Thorfile Berksfile Brewfile .irbrc irb.rc *.rake Steepfile .pryrc .rspec .rubocop.yml", kHarmlessCommand, "Ruby tools", "Ruby"},
    {".mvn/", kHarmlessCommand, "mvn", "options load agents and extensions"},
    {".bazelrc .bazelversion .bazeliskrc tools/bazel MODULE.bazel WORKSPACE WORKSPACE.bazel WORKSPACE.bzlmod BUILD BUILD.bazel *.bzl", kHarmlessCommand, "bazel", "the wrapper is run"},
    {"premake*.lua", kHarmlessCommand, "premake", "a script"},
    {".Rprofile .Renviron .RData renv/activate.R .ghci .iex.exs .erlang .proverc .ocamlinit .octaverc startup.m .gnuplot .psysh.php", kHarmlessCommand, "R, other interpreters", "start-up scripts"},
    {".gdbinit .lldbinit .valgrindrc .pdbrc .perldb", kHarmlessCommand, "gdb, lldb, valgrind, pdb, perl", "debugger commands"},

    // Agents
    {".agents/", kAgent, "agents", "skills and servers", kRefused},
    {".antigravity/ .antigravitycli/ .windsurf/ .kiro/ .qwen/ crush.json .crush.json .roo/ .kilocode/ .amazonq/ .factory/ .junie/ .continue/ .amp/ .trae/ .aider.conf.yml .openhands/ .grok/ .clinerules/*/ .pi/ .agent/ .augment/ .vibe/ .qoder/ .codebuddy/ .serena/", kAgent, "agents", "servers, hooks and lint commands", kRefused},
    {"AGENT*.md QWEN.md CRUSH.md WARP.md CONTEXT.md .clinerules* .cursorrules .windsurfrules .goosehints", kAgent, "agents", "instructions"},
};
// clang-format on

/// A word of a row's patterns, for a folded path.
std::string Expression(std::string_view word) {
  const bool is_at_top = word.starts_with('/');
  const bool is_directory = word.ends_with('/');
  word.remove_prefix(is_at_top ? 1 : 0);
  word.remove_suffix(is_directory ? 1 : 0);
  std::string expression = support::Regex::Quote(support::LowerCase(word));
  support::Regex(R"(\\\*)").ReplaceAll(expression, "[^/]*");
  support::Regex(R"(\\\?)").ReplaceAll(expression, "[^/]");
  return (is_at_top ? "" : "(?:.*/)?") + expression + (is_directory ? "(?:/.*)?" : "");
}

}  // namespace

struct HostPrograms::Expressions {
  support::RegexSet set;
  std::vector<std::size_t> rows;  ///< of each expression

  static std::shared_ptr<const Expressions> Of(const std::vector<HostProgram>& programs) try {
    std::vector<std::string> expressions;
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < programs.size(); ++row) {
      for (const std::string_view word : support::Words(programs[row].patterns)) {
        expressions.push_back(Expression(word));
        rows.push_back(row);
      }
    }
    support::RegexSet set(expressions, support::Regex::kLatin1);  // names are bytes
    return std::make_shared<Expressions>(Expressions{std::move(set), std::move(rows)});
  } catch (const std::invalid_argument&) {
    throw support::Error("there are too many files that programs obey");
  }
};

HostPrograms::HostPrograms(std::span<const HostProgram> further)
    : rows_(std::begin(kPrograms), std::end(kPrograms)) {
  Add(further);
}

void HostPrograms::Add(std::span<const HostProgram> rows) {
  rows_.insert(rows_.begin(), rows.begin(), rows.end());
  expressions_ = std::async(std::launch::deferred, &Expressions::Of, rows_);
}

std::vector<const HostProgram*> HostPrograms::Match(std::string_view path) const {
  const auto expressions = std::shared_future(expressions_).get();
  const auto matches = expressions->set.FullMatches(Folded(path));
  if (!matches) throw support::Error("RE2 has too little memory for {}", Visible(path));
  std::set<const HostProgram*> rows;
  for (const int match : *matches) {
    rows.insert(&rows_[expressions->rows[static_cast<std::size_t>(match)]]);
  }
  return {rows.begin(), rows.end()};
}

bool MayBeConfiguration(std::string_view path) {
  static const auto compile = [](const char* expression) {
    return support::Regex(expression, support::Regex::kLatin1);
  };
  static const support::Regex lock = compile(
      R"((.*/)?([^/]*[.-]lock(b|file)?(\.[a-z]+)?|go(\.work)?\.sum|npm-shrinkwrap\.json|[^/]+\.resolved))");
  static const support::Regex hidden = compile(R"((.*/)?\..*)");
  static const support::Regex data =
      compile(R"((.*/)?(_?locales?|i18n|l10n|lang(uage)?s?|messages|translations?|cassettes)"
              R"(|_*(fixtures?|recordings?|snapshots?|test[-_]?data)_*)/.*)");
  static const support::Regex configuration = compile(
      R"((.*/)?([^/]*\.(toml|ya?ml|json[5c]?|ini|cfg|conf|mk|config|properties|gypi?|pro|command|desktop)"
      R"(|terminal|plist)|[^/]*\.config\.[^/]*|(conf|setup|noxfile)\.py|[^/.]+(file|rc))|[^/]+file\.js)");
  const std::string folded = Folded(path);
  if (lock.FullMatch(folded)) return false;
  return hidden.FullMatch(folded) || (!data.FullMatch(folded) && configuration.FullMatch(folded));
}

}  // namespace paths
