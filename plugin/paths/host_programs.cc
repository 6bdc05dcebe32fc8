#include "paths/host_programs.h"

#include <re2/set.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "support/errors.h"
#include "support/join.h"
#include "support/utf8.h"

namespace paths {
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
    {".lfsconfig", kBuilding, "git-lfs", "settings of transfers", kRefused},
    {".gitattributes", kLooking, "git", "selects filters, which configuration defines"},
    {".git/config", kLooking, "git", "its value is a shell command", kRefused, "core.fsmonitor core.hooksPath hook.*.command hook.*.event"},
    {".git/config", kLooking, "git", "reads configuration from any file", kRefused, "include.path includeIf.*.path extensions.worktreeConfig core.attributesFile"},
    {".git/config", kLooking, "git", "filters and diff drivers are commands", kRefused, "filter.*.clean filter.*.process filter.*.smudge diff.external diff.*.command diff.*.textconv"},
    {".git/config", kLooking, "git", "pagers and signature programs are commands", kRefused, "core.pager pager.* gpg.program gpg.*.program gpg.ssh.defaultKeyCommand"},
    {".git/config", kLooking, "git", "transports and missing objects run commands", kRefused, "core.sshCommand core.gitProxy remote.*.uploadpack remote.*.receivepack remote.*.vcs remote.*.url remote.*.pushurl remote.pushDefault branch.*.remote branch.*.pushRemote protocol.allow protocol.ext.allow url.*.insteadOf url.*.pushInsteadOf extensions.partialClone remote.*.promisor"},
    {".git/config", kHarmless, "git", "keys are commands", kRefused, "core.editor sequence.editor alias.* merge.*.driver difftool.*.cmd difftool.*.path mergetool.*.cmd mergetool.*.path man.*.cmd browser.*.cmd trailer.*.command trailer.*.cmd tar.*.command sendemail.*cmd sendemail.*smtpServer core.alternateRefsCommand submodule.*.update credential.*helper core.askPass interactive.diffFilter"},
    {".git/config", kBuilding, "git-lfs", "transfer agents are programs", kRefused, "lfs.customtransfer.*.path lfs.extension.*"},
    {".hg/ .jj/", kLooking, "hg, jj", "hooks, extensions and aliases are commands", kRefused},

    // Shells, prompts, version managers
    {".envrc", kLooking, "direnv", "a shell script", kRefused},
    {"mise.toml .mise*/ .config/mise*/", kLooking, "mise", "environment, hooks and tools", kRefused},
    {"mise-tasks/", kBuilding, "mise", "tasks are commands"},
    {".tool-versions", kHarmless, "asdf", "a version may be a path"},
    {".env .autoenv*", kLooking, "oh-my-zsh, autoenv", "sourced as shell, after a question"},
    {"rust-toolchain.toml rust-toolchain", kHarmless, "rustup", "the toolchain may be a directory"},
    {"Makefile GNUmakefile *.mk", kLooking, "make, bash-completion", "runs make to list targets"},
    {"bin/ node_modules/.bin/ .venv/bin/ vendor/bin/", kLooking, "shells", "planted programs, if PATH has the directory"},
    {"bin/", kLooking, "shells", "your PATH has the directory", Writing::kAllowed, "PATH"},

    // Editors
    {".idea/", kLooking, "JetBrains", "watchers, startup tasks and run configurations", kRefused},
    {".helix/", kLooking, "Helix", "a language server is a command", kRefused},
    {".nvim.lua .nvimrc .exrc", kLooking, "Vim, Neovim", "a script", kRefused},
    {".vimrc .lvimrc", kLooking, "Vim", "a script"},
    {"*.iml .run/", kLooking, "JetBrains", "run configurations"},
    {".dir-locals.el", kLooking, "Emacs", "Lisp"},
    {"*.sublime-project .kateproject .project .settings/", kBuilding, "Sublime, Kate, Eclipse", "build systems"},
    {"tsconfig.json", kLooking, "tsserver", "plugins are loaded from node_modules"},
    {"eslint.config.* .eslintrc* .prettierrc* prettier.config.* .stylelintrc* stylelint.config.*", kLooking, "linters, editors", "configuration is JavaScript"},
    {"tailwind.config.* svelte.config.* vite.config.* postcss.config.* babel.config.* .babelrc*", kLooking, "bundlers, editors", "configuration is JavaScript"},
    {"build.rs .cargo/config.toml .cargo/config", kLooking, "cargo, rust-analyzer", "build scripts, compilers, wrappers and linkers"},
    {"build.zig hie.yaml mix.exs *.csproj Directory.Build.* build.sbt project/ Package.swift .luarc.json .solargraph.yml", kLooking, "language servers", "the project's model is code"},
    {".venv/ venv/ env/ pyvenv.cfg", kLooking, "Python, editors", "the interpreter is started"},
    {"conftest.py pytest.ini pyproject.toml", kLooking, "pytest, editors", "imported to discover tests"},

    // Package managers, languages, builds
    {".npmrc", kBuilding, "npm", "names a shell, options and programs"},
    {"package.json", kBuilding, "npm, pnpm, yarn, bun", "scripts are commands"},
    {"node_modules/", kBuilding, "node", "modules are looked up there first"},
    {".yarnrc.yml .yarnrc .yarn/", kHarmless, "yarn", "names the program that runs as yarn"},
    {".pnpmfile.cjs .pnpmfile.mjs", kHarmless, "pnpm", "JavaScript"},
    {"pnpm-workspace.yaml bunfig.toml deno.json", kBuilding, "pnpm, bun, deno", "names code to load"},
    {"/*.py", kHarmless, "python", "the working directory is first on the path"},
    {".pdbrc", kHarmless, "pdb", "debugger commands"},
    {"setup.py setup.cfg tox.ini noxfile.py dodo.py uv.toml *.pth sitecustomize.py jupyter_*_config.py *.ipynb", kBuilding, "pip, tox, nox, uv, Jupyter", "the build backend is code"},
    {"Gemfile gems.rb *.gemspec .bundle/config Rakefile .irbrc .pryrc .rspec .rubocop.yml", kHarmless, "Ruby tools", "Ruby"},
    {"target/", kBuilding, "cargo, mvn", "built programs and classes are run"},
    {"Cargo.toml", kBuilding, "cargo", "build scripts and macros"},
    {"go.mod *_test.go", kBuilding, "go", "toolchain, tools and tests"},
    {".mvn/", kHarmless, "mvn", "options load agents and extensions"},
    {"mvnw gradlew gradle/wrapper/ build.gradle* settings.gradle* buildSrc/ gradle.properties pom.xml *.sbt .sbtopts .jvmopts", kBuilding, "Java builds", "scripts, agents and downloads"},
    {".bazelrc .bazelversion .bazeliskrc tools/bazel MODULE.bazel WORKSPACE* BUILD BUILD.bazel *.bzl", kHarmless, "bazel", "the wrapper is run"},
    {"CMakeLists.txt *.cmake CMakePresets.json", kBuilding, "cmake", "runs commands; editors configure on opening"},
    {"justfile Taskfile.y*ml magefile.go meson.build SConstruct wscript configure conanfile.py xmake.lua Vagrantfile Tiltfile skaffold.yaml", kBuilding, "build tools", "code"},
    {"*.props *.targets nuget.config global.json .config/dotnet-tools.json", kBuilding, "dotnet", "build tasks are code"},
    {"composer.json vendor/ .php-cs-fixer* phpstan.neon* phpunit.xml* artisan", kBuilding, "PHP tools", "PHP"},
    {".Rprofile .Renviron .RData", kHarmless, "R", "R code at the start"},
    {".ghci .iex.exs .ocamlinit .octaverc startup.m .gnuplot .psysh.php", kHarmless, "interpreters", "start-up scripts"},
    {".gdbinit .lldbinit .valgrindrc", kHarmless, "gdb, lldb, valgrind", "debugger commands"},
    {"docker-compose*.y*ml compose*.y*ml Dockerfile", kBuilding, "docker", "mounts of the host"},
    {"*.tf .terraform/ terragrunt.hcl Pulumi.yaml serverless.yml ansible.cfg helmfile.yaml", kBuilding, "infrastructure tools", "providers and plugins"},
    {"flake.nix shell.nix default.nix devenv.nix devbox.json", kBuilding, "nix", "a shell hook"},
    {".husky/ .githooks/ .pre-commit-config.yaml lefthook.y*ml .lintstagedrc* .overcommit.yml", kBuilding, "hook managers", "commands at each commit, once installed"},
    {".github/workflows/ .github/actions/ .gitlab-ci.yml .circleci/ Jenkinsfile azure-pipelines.yml .travis.yml .drone.yml", kElsewhere, "CI", "runs with secrets"},

    // Agents
    {".agents/", kAgent, "agents", "skills and servers", kRefused},
    {".windsurf/ .kiro/ .qwen/ crush.json .crush.json .roo/ .kilocode/ .amazonq/ .factory/ .junie/ .continue/ .amp/ .trae/ .aider.conf.yml", kAgent, "agents", "servers, hooks and lint commands", kRefused},
    {"AGENTS*.md CONTEXT.md .clinerules* .windsurfrules .goosehints", kPrompt, "agents", "instructions"},
};
// clang-format on

struct Folding {
  std::string_view first;
  std::string_view last;
  std::string_view folded;
};

/// The characters that are ignored, or fold to ASCII. UTF-8 sorts like code points.
constexpr std::array kFoldings = {
    Folding{"\u00ad", "\u00ad", ""},         Folding{"\u00df", "\u00df", "ss"},
    Folding{"\u017f", "\u017f", "s"},        Folding{"\u1e9e", "\u1e9e", "ss"},
    Folding{"\u200b", "\u200f", ""},         Folding{"\u202a", "\u202e", ""},
    Folding{"\u2060", "\u206f", ""},         Folding{"\u212a", "\u212a", "k"},
    Folding{"\ufb00", "\ufb00", "ff"},       Folding{"\ufb01", "\ufb01", "fi"},
    Folding{"\ufb02", "\ufb02", "fl"},       Folding{"\ufb03", "\ufb03", "ffi"},
    Folding{"\ufb04", "\ufb04", "ffl"},      Folding{"\ufb05", "\ufb06", "st"},
    Folding{"\ufe00", "\ufe0f", ""},         Folding{"\ufeff", "\ufeff", ""},
    Folding{"\U000e0000", "\U000e0fff", ""},
};

/// Of a row's patterns, in lower case. A path from the top of the project has a slash in front.
std::string Expression(const HostProgram& row) {
  std::string expression;
  for (std::string_view pattern : support::Words(row.patterns)) {
    const bool is_at_top = pattern.starts_with('/');
    pattern.remove_prefix(is_at_top ? 1 : 0);
    const bool is_directory = pattern.ends_with('/');
    pattern.remove_suffix(is_directory ? 1 : 0);
    expression += expression.empty() ? "" : "|";
    expression += is_at_top ? "/" : "/?";
    std::string names = re2::RE2::QuoteMeta(support::LowerCase(pattern));
    re2::RE2::GlobalReplace(&names, R"(\\\*)", "[^/]*");
    re2::RE2::GlobalReplace(&names, R"(\\\?)", "[^/]");
    expression += names + (is_directory ? "(?:/.*)?" : "");
  }
  return expression;
}

}  // namespace

std::string FoldName(std::string_view name) {
  std::string folded;
  while (!name.empty()) {
    const auto length = std::max<std::size_t>(1, support::FirstCharacterLength(name));
    const std::string_view character = name.substr(0, length);
    const auto* found = std::find_if(kFoldings.begin(), kFoldings.end(),
                                     [&](const Folding& one) { return character <= one.last; });
    folded += found == kFoldings.end() || character < found->first ? character : found->folded;
    name.remove_prefix(length);
  }
  folded.resize(std::min(folded.size(), folded.find(':')));
  folded.erase(folded.find_last_not_of(" .") + 1);
  return support::LowerCase(folded) == "git~1" ? ".git" : folded;
}

struct HostPrograms::Expressions {
  re2::RE2::Set set;

  static std::shared_ptr<const Expressions> Of(const std::vector<HostProgram>& rows) {
    re2::RE2::Options options(re2::RE2::Latin1);  // names are bytes
    options.set_dot_nl(true);
    re2::RE2::Set set(options, re2::RE2::ANCHOR_BOTH);
    for (const HostProgram& row : rows) set.Add(Expression(row), nullptr);
    if (!set.Compile()) throw support::CallError("there are too many files that programs obey");
    return std::make_shared<Expressions>(Expressions{std::move(set)});
  }
};

HostPrograms::HostPrograms(std::span<const HostProgram> further)
    : rows_(std::begin(kPrograms), std::end(kPrograms)) {
  Add(further);
}

void HostPrograms::Add(std::span<const HostProgram> rows) {
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  expressions_ = std::async(std::launch::deferred, &Expressions::Of, rows_);
}

std::vector<HostMatch> HostPrograms::Match(std::string_view path) const {
  const auto expressions = std::shared_future(expressions_).get();
  std::vector<HostMatch> matches;
  std::string rest;  // the folded names from `start` on
  for (std::size_t end = path.size(), start = 0; end > 0; end = start > 0 ? start - 1 : 0) {
    start = path.substr(0, end).rfind('/') + 1;  // 0 without a slash
    const std::string name = support::LowerCase(FoldName(path.substr(start, end - start)));
    rest = name + (rest.empty() ? "" : "/") + rest;
    std::vector<int> rows;
    re2::RE2::Set::ErrorInfo error = {};
    if (!expressions->set.Match((start == 0 ? "/" : "") + rest, &rows, &error) &&
        error.kind != re2::RE2::Set::kNoError) {
      throw support::CallError("RE2 has too little memory for " + std::string(path));
    }
    std::sort(rows.begin(), rows.end());
    for (const int row : rows) {
      matches.push_back({rows_[static_cast<std::size_t>(row)], path.substr(0, start)});
    }
  }
  return matches;
}

}  // namespace paths
