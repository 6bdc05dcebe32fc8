// SPDX-License-Identifier: Apache-2.0
#include "exposure/host_programs.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "exposure/names.h"
#include "support/errors.h"
#include "support/regex.h"
#include "support/words.h"

namespace exposure {
namespace {

using enum RunBy;

constexpr Writing kRefused = Writing::kRefused;
constexpr Writing kBesideHead = Writing::kRefusedBesideHead;

// clang-format off
constexpr HostProgram kPrograms[] = {
    // git
    {".git/", kLooking, "git", "hooks and settings are commands; a file names another directory", kRefused},
    {"HEAD", kLooking, "git", "makes its directory a repository, whose settings are commands", kRefused},
    {"config config.worktree commondir hooks/ info/ objects/ worktrees/ rebase-merge/ rebase-apply/ sequencer/", kLooking, "git", "a bare repository's hooks and settings are commands", kBesideHead},
    {".gitmodules", kBuilding, "git", "where submodules come from"},
    {".lfsconfig", kBuilding, "git-lfs", "settings of transfers", kRefused},
    {".gitattributes", kLooking, "git", "selects filters, which configuration defines"},
    {".gitignore", kBuilding, "git", "what it no longer ignores, commits and copies take"},
    {".hg/ .jj/ .sl/ .pijul/ .repo/ _darcs/prefs/", kLooking, "hg, jj, sl, pijul, repo, darcs", "hooks, extensions and aliases are commands", kRefused},

    // Shells, prompts, version managers
    {".envrc", kLooking, "direnv", "a shell script", kRefused},
    {".direnv/ .shadowenv.d/", kLooking, "direnv, shadowenv", "scripts for the shell", kRefused},
    {"mise*.toml .mise*/ mise/config.toml .config/mise*/", kLooking, "mise", "environment, hooks and tools", kRefused},
    {".env .env.local .envrc.local .autoenv*", kLooking, "oh-my-zsh, autoenv", "sourced as shell, after a question"},
    {".tool-versions rust-toolchain.toml rust-toolchain .prototools", kHarmlessCommand, "asdf, rustup, proto", "a version may be a path"},
    {"Makefile GNUmakefile *.mk", kLooking, "make, bash-completion", "runs make to list targets"},
    {"bin/ node_modules/.bin/ .venv/bin/ vendor/bin/", kLooking, "shells", "planted programs, if PATH has the directory"},

    // Editors
    {".idea/", kLooking, "JetBrains", "watchers, startup tasks and run configurations", kRefused},
    {".helix/", kLooking, "Helix", "a language server is a command", kRefused},
    {".nvim.lua .nvimrc .exrc", kLooking, "Vim, Neovim", "a script", kRefused},
    {".vimrc .lvimrc .lazy.lua .neoconf.json .ycm_extra_conf.py .vim/ .dir-locals*.el", kLooking, "Vim, Neovim, Emacs", "a script, or names a language server"},
    {"*.iml .run/", kLooking, "JetBrains", "run configurations"},
    {"*.sublime-project .kateproject .project .settings/ .fleet/ .nova/ .vs/", kBuilding, "Sublime, Kate, Eclipse, Fleet, Nova, Visual Studio", "build systems and tasks"},
    {"tsconfig*.json jsconfig*.json", kLooking, "tsserver", "plugins are loaded from node_modules"},
    {"*.config.* .eslintrc* .prettierrc* .stylelintrc* .babelrc* .mocharc* .nycrc* .postcssrc* .graphqlrc* .commitlintrc* .markdownlint* karma.conf.* wdio.conf.* .storybook/", kLooking, "linters, test runners, bundlers, editors", "configuration is JavaScript"},
    {"gulpfile.* Gruntfile.* angular.json nx.json project.json turbo.json lerna.json nodemon.json", kBuilding, "bundlers", "configuration is JavaScript, or names commands"},
    {"build.rs rust-analyzer.toml .cargo/config.toml .cargo/config", kLooking, "cargo, rust-analyzer", "build scripts, compilers, wrappers and linkers"},
    {"build.zig hie.yaml mix.exs .formatter.exs .credo.exs config/*.exs lakefile.lean lakefile.toml project.clj config.nims analysis_options.yaml buildServer.json .bsp/ .lsp/ omnisharp.json *.csproj *.fsproj *.vbproj *.vcxproj Directory.Build.* build.sbt project/ Package.swift *.xcodeproj/ .luarc.json .luarc.jsonc .luacheckrc .lintr .merlin dune .clj-kondo/ .solargraph.yml", kLooking, "language servers", "the project's model is code"},
    {".venv/ venv/ env/ pyvenv.cfg", kLooking, "Python, editors", "the interpreter is started"},
    {".pylintrc pylintrc pylintrc.toml mypy.ini .mypy.ini .flake8 conftest.py pytest.ini .pytest.ini pytest.toml pyproject.toml", kLooking, "Python linters, pytest, editors", "loads code of the project"},

    // Package managers, languages, builds
    {".npmrc", kBuilding, "npm", "names a shell, options and programs"},
    {"package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock* deno.lock Cargo.lock go.sum poetry.lock uv.lock Pipfile* requirements*.txt Gemfile.lock composer.lock flake.lock", kBuilding, "package managers", "names the packages whose code runs"},
    {"package.json", kBuilding, "npm, pnpm, yarn, bun", "scripts are commands"},
    {"node_modules/", kBuilding, "node", "modules are looked up there first"},
    {".yarnrc.yml .yarnrc .yarn/ .pnpmfile.cjs .pnpmfile.mjs", kHarmlessCommand, "yarn, pnpm", "JavaScript, or names the program to run"},
    {"pnpm-workspace.yaml bunfig.toml deno.json deno.jsonc .pnp.cjs .pnp.loader.mjs", kBuilding, "pnpm, bun, deno", "names code to load"},
    {"/*.py /*/__init__.py", kHarmlessCommand, "python", "the working directory is first on the path"},
    {"setup.py setup.cfg tox.ini noxfile.py dodo.py uv.toml *.pth sitecustomize.py jupyter_*_config.py *.ipynb", kBuilding, "pip, tox, nox, uv, Jupyter", "the build backend is code"},
    {"Gemfile gems.rb *.gemspec .bundle/config Rakefile* Podfile *.podspec Fastfile Dangerfile Guardfile Capfile Thorfile Berksfile Brewfile .irbrc irb.rc *.rake Steepfile .pryrc .rspec .rubocop.yml", kHarmlessCommand, "Ruby tools", "Ruby"},
    {"target/", kBuilding, "cargo, mvn", "built programs and classes are run"},
    {"Cargo.toml go.mod go.work .golangci.y*ml *_test.go", kBuilding, "cargo, go", "macros, toolchains, tools and tests"},
    {".mvn/", kHarmlessCommand, "mvn", "options load agents and extensions"},
    {"mvnw gradlew gradle/wrapper/ *.gradle* buildSrc/ gradle.properties pom.xml *.sbt .sbtopts .jvmopts", kBuilding, "Java builds", "scripts, agents and downloads"},
    {".bazelrc .bazelversion .bazeliskrc tools/bazel MODULE.bazel WORKSPACE WORKSPACE.bazel WORKSPACE.bzlmod BUILD BUILD.bazel *.bzl", kHarmlessCommand, "bazel", "the wrapper is run"},
    {"CMakeLists.txt *.cmake CMakePresets.json CMakeUserPresets.json", kBuilding, "cmake", "runs commands; editors configure on opening"},
    {"mise-tasks/ justfile .justfile Earthfile Snakefile build.xml build.sc pants.toml BUCK .buckconfig *.am configure.ac dub.json dub.sdl stack.yaml package.yaml *.cabal cabal.project* Setup.hs Taskfile*.y*ml Makefile.toml build.ninja deps.edn rebar.config pubspec.yaml Procfile* magefile.go meson.build SConstruct SConscript wscript configure conanfile.py xmake.lua Vagrantfile Tiltfile skaffold.yaml pixi.toml docs/conf.py cpanfile Makefile.PL Build.PL .latexmkrc", kBuilding, "build tools", "code"},
    {"*.props *.targets *.proj *.sln *.slnx nuget.config global.json .config/dotnet-tools.json dotnet-tools.json", kBuilding, "dotnet", "build tasks are code"},
    {"composer.json vendor/ .php-cs-fixer* phpstan.neon* phpunit.xml* phpstan.dist.neon phpunit.dist.xml artisan", kBuilding, "PHP tools", "PHP"},
    {".Rprofile .Renviron .RData renv/activate.R .ghci .iex.exs .erlang .proverc .ocamlinit .octaverc startup.m .gnuplot .psysh.php", kHarmlessCommand, "R, other interpreters", "start-up scripts"},
    {".gdbinit .lldbinit .valgrindrc .pdbrc .perldb", kHarmlessCommand, "gdb, lldb, valgrind, pdb, perl", "debugger commands"},
    {"docker-compose*.y*ml compose*.y*ml Dockerfile* Containerfile* .ddev/ .lando.yml", kBuilding, "docker", "mounts of the host"},
    {"*.tf *.tf.json *.tofu .terraform/ .terraform.lock.hcl terragrunt.hcl Pulumi.yaml serverless.* cdk.json netlify.toml wrangler.* ansible.cfg helmfile.yaml", kBuilding, "infrastructure tools", "providers and plugins"},
    {"flake.nix shell.nix default.nix devenv.nix devbox.json", kBuilding, "nix", "a shell hook"},
    {".husky/ .githooks/ .pre-commit-config.yaml lefthook*.y*ml .lefthook*.y*ml .lintstagedrc* .overcommit.yml hk.pkl prek.toml", kBuilding, "hook managers", "commands at each commit, once installed"},
    {".github/workflows/ .github/actions/ .gitlab-ci.yml .circleci/ Jenkinsfile azure-pipelines.yml .travis.yml .drone.yml .woodpecker* .buildkite/ bitbucket-pipelines.yml appveyor.yml .appveyor.yml .cirrus.yml .semaphore/ cloudbuild.yaml buildspec.yml .builds/ .build.yml .teamcity/ .tekton/ .forgejo/ .gitea/ .gitlab/ action.yml action.yaml", kElsewhere, "CI", "runs with secrets"},

    // Agents
    {".agents/", kAgent, "agents", "skills and servers", kRefused},
    {".antigravity/ .antigravitycli/ .windsurf/ .kiro/ .qwen/ crush.json .crush.json .roo/ .kilocode/ .amazonq/ .factory/ .junie/ .continue/ .amp/ .trae/ .aider.conf.yml .openhands/ .grok/ .clinerules/*/ .pi/ .agent/ .augment/ .vibe/ .qoder/ .codebuddy/ .serena/", kAgent, "agents", "servers, hooks and lint commands", kRefused},
    {"AGENT*.md QWEN.md CRUSH.md WARP.md CONTEXT.md .clinerules* .cursorrules .windsurfrules .goosehints", kPrompt, "agents", "instructions"},
};
// clang-format on

/// A word of a row's patterns.
struct Pattern {
  explicit Pattern(std::string_view word)
      : is_at_top(word.starts_with('/')), is_directory(word.ends_with('/')) {
    word.remove_prefix(is_at_top ? 1 : 0);
    word.remove_suffix(is_directory ? 1 : 0);
    names = support::LowerCase(word);
  }

  /// A path from the top of the project has a slash in front.
  [[nodiscard]] std::string Expression() const {
    std::string expression = support::Regex::Quote(names);
    support::Regex(R"(\\\*)").ReplaceAll(expression, "[^/]*");
    support::Regex(R"(\\\?)").ReplaceAll(expression, "[^/]");
    return (is_at_top ? "/" : "/?") + expression;
  }

  /// Returns false if nothing would be left but "*".
  bool RemoveName() {
    const std::size_t end = names.rfind('/');
    if (end == std::string::npos || names.substr(0, end) == "*") return false;
    names.resize(end);
    return true;
  }

  bool is_at_top;
  bool is_directory;
  std::string names;
};

}  // namespace

struct HostPrograms::Expressions {
  enum class Kind : std::uint8_t {
    kFile,
    kAllBelow,  ///< also what is below
    kAbove,     ///< a directory in which the row's files are
  };

  support::RegexSet set;
  std::vector<std::pair<std::size_t, Kind>> list;  ///< with the row of each
  std::size_t names = 0;                           ///< the most that one has

  static std::shared_ptr<const Expressions> Of(const std::vector<HostProgram>& rows) {
    std::vector<std::string> expressions;
    std::vector<std::pair<std::size_t, Kind>> list;
    std::size_t most = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (const std::string_view word : support::Words(rows[row].patterns)) {
        Pattern pattern(word);
        const auto names = std::count(pattern.names.begin(), pattern.names.end(), '/') + 1;
        most = std::max(most, static_cast<std::size_t>(names));
        Kind kind = pattern.is_directory ? Kind::kAllBelow : Kind::kFile;
        do {
          expressions.push_back(pattern.Expression());
          list.emplace_back(row, std::exchange(kind, Kind::kAbove));
        } while (pattern.RemoveName());
      }
    }
    try {
      support::RegexSet set(expressions, support::Regex::kLatin1);  // names are bytes
      return std::make_shared<Expressions>(Expressions{std::move(set), std::move(list), most});
    } catch (const std::invalid_argument&) {
      throw support::CallError("there are too many files that programs obey");
    }
  }

  /// Calls `found` for each expression that matches names at the end of `path`, and with where they
  /// begin.
  template <typename Found>
  void MatchEnd(std::string_view path, const Found& found) const {
    std::string end;  // folded
    std::size_t start = path.size() + 1;
    for (std::size_t count = 0; count < names && start > 0; ++count) {
      const std::size_t stop = start - 1;
      start = path.substr(0, stop).rfind('/') + 1;  // 0 without a slash
      const std::string name = support::LowerCase(FoldName(path.substr(start, stop - start)));
      end = name + (count == 0 ? "" : "/") + end;
      const auto matches = set.FullMatches((start == 0 ? "/" : "") + end);
      if (!matches) throw support::CallError("RE2 has too little memory for " + std::string(path));
      for (const int match : *matches) found(list[static_cast<std::size_t>(match)], start);
    }
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

RowFinder::RowFinder(const HostPrograms& programs)
    : programs_(programs), expressions_(std::shared_future(programs.expressions_).get()) {}

std::vector<HostMatch> RowFinder::Match(const std::string& path, bool is_link) {
  using Kind = HostPrograms::Expressions::Kind;
  const auto differs = std::mismatch(last_.begin(), last_.end(), path.begin(), path.end()).first;
  const auto same = static_cast<std::size_t>(differs - last_.begin());
  while (!levels_.empty() && (levels_.back().end > same || path.size() <= levels_.back().end ||
                              path[levels_.back().end] != '/')) {
    levels_.pop_back();
  }
  last_ = path;
  auto matches = levels_.empty() ? std::vector<HostMatch>() : levels_.back().matches;
  const auto add = [&](std::string_view part, auto... kinds) {
    expressions_->MatchEnd(part, [&](const auto& expression, std::size_t start) {
      if (((expression.second != kinds) && ...)) return;
      const HostMatch match{&programs_.rows_[expression.first], start};
      const auto place = std::lower_bound(matches.begin(), matches.end(), match);
      if (place == matches.end() || *place != match) matches.insert(place, match);
    });
  };
  const std::string_view whole = path;
  const std::size_t known = levels_.empty() ? 0 : levels_.back().end + 1;
  for (std::size_t end = whole.find('/', known); end != whole.npos;
       end = whole.find('/', end + 1)) {
    add(whole.substr(0, end), Kind::kAllBelow);
    levels_.push_back({end, matches});
  }
  add(whole, Kind::kFile, Kind::kAllBelow);
  if (is_link && matches.empty()) add(whole, Kind::kAbove);
  return matches;
}

std::vector<const HostProgram*> RowFinder::Rows(const std::string& path, bool is_link) {
  std::vector<const HostProgram*> rows;
  for (const HostMatch& match : Match(path, is_link)) {
    const bool counts = match.row->writing != Writing::kRefusedBesideHead;
    if (counts && (rows.empty() || rows.back() != match.row)) rows.push_back(match.row);
  }
  return rows;
}

}  // namespace exposure
