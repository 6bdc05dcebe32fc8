// SPDX-License-Identifier: Apache-2.0
#include "integration/copy_fixture.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <regex>

namespace integration {
namespace {

using Environment = std::map<std::string, std::optional<std::string>>;

/// Else each commit starts one more git, which looks whether there is something to pack.
const Environment kNoMaintenance = {
    {"GIT_CONFIG_COUNT", "1"},
    {"GIT_CONFIG_KEY_0", "maintenance.auto"},
    {"GIT_CONFIG_VALUE_0", "false"},
};

const Environment kIdentity = {
    {"GIT_AUTHOR_NAME", "A U Thor"},
    {"GIT_AUTHOR_EMAIL", "author@example.org"},
    {"GIT_AUTHOR_DATE", "2026-11-01T12:00:00 +0000"},
    {"GIT_COMMITTER_NAME", "C O Mitter"},
    {"GIT_COMMITTER_EMAIL", "committer@example.org"},
    {"GIT_COMMITTER_DATE", "2026-11-01T12:00:00 +0000"},
};

/// ReadFile takes seconds for 60 MB.
std::string Content(const fs::path& path) {
  std::string content(fs::file_size(path), '\0');
  std::ifstream(path, std::ios::binary)
      .read(content.data(), static_cast<std::streamsize>(content.size()));
  return content;
}

std::int64_t ChangeTime(const struct stat& status) {
#ifdef __APPLE__
  const timespec& time = status.st_mtimespec;
#else
  const timespec& time = status.st_mtim;
#endif
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Without control characters, but for line ends.
bool IsPrintable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
  });
}

}  // namespace

const char kRepository[] = R"(
commit() { git add -A; git commit -qm "${1:-more}"; }
base() { # DIRECTORY [OPTIONS OF INIT]
  git init -q -b main "$@"; cd "$1"
  seq 20 > file.txt; echo gone > gone.txt; echo tool > tool.sh
  mkdir dir; echo inner > dir/inner.txt; commit first
}
)";

Files FilesOf(const fs::path& directory) {
  Files files;
  for (auto entry = fs::recursive_directory_iterator(directory);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const fs::path name = entry->path().lexically_relative(directory);
    if (name == ".git") {
      entry.disable_recursion_pending();
    } else if (entry->is_symlink()) {
      files[name] = "> " + fs::read_symlink(entry->path()).string();
    } else if (entry->is_regular_file()) {
      const bool executable = (ModeOf(entry->path()) & 0100U) != 0;
      files[name] = (executable ? "x " : "- ") + Content(entry->path());
    } else if (!entry->is_directory()) {
      files[name] = "?";
    }
  }
  return files;
}

Snapshot SnapshotOf(const fs::path& directory) {
  Snapshot snapshot;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    struct stat status {};
    if (::lstat(entry.path().c_str(), &status) != 0) continue;
    std::string name = entry.path().lexically_relative(directory);
    std::string content;
    if (S_ISLNK(status.st_mode)) content = fs::read_symlink(entry.path());
    if (S_ISREG(status.st_mode)) {
      content = std::to_string(std::hash<std::string>()(Content(entry.path())));
    }
    if (S_ISDIR(status.st_mode)) name += "/";
    const bool timed = ("/" + name).find("/objects/") == std::string::npos &&
                       name.find("sharedindex.") == std::string::npos;
    snapshot[name] = std::to_string(status.st_mode) + " " + content + " " +
                     (timed ? std::to_string(ChangeTime(status)) : "");
  }
  return snapshot;
}

std::vector<std::string> Changes(const Snapshot& before, const Snapshot& after) {
  std::vector<std::string> changes;
  for (const auto& [name, state] : before) {
    const auto found = after.find(name);
    if (found == after.end()) {
      changes.push_back("gone " + name);
    } else if (found->second != state) {
      changes.push_back("changed " + name);
    }
  }
  for (const auto& [name, state] : after) {
    if (!before.contains(name)) changes.push_back("new " + name);
  }
  return changes;
}

std::vector<std::string> ChangesButABranch(const Snapshot& before, const Snapshot& after) {
  static const std::regex kDue(
      "(new|changed) .*/|new .*/objects/pack/pack-[0-9a-f]*\\.(pack|idx|rev)"
      "|(new|changed) .*\\.git/(logs/)?refs/heads/agent/.*");
  std::vector<std::string> changes = Changes(before, after);
  std::erase_if(changes, [](const std::string& change) { return std::regex_match(change, kDue); });
  return changes;
}

std::mt19937 SeededRandom() {
  const char* given = std::getenv("LIMACTL_MCP_SEED");
  const std::string seed = given == nullptr ? "20261124" : given;
  std::cout << "LIMACTL_MCP_SEED=" << seed << std::endl;
  return std::mt19937(static_cast<unsigned>(std::stoul(seed)));
}

CopyTest::CopyTest() {
  // Without git's samples of hooks, a dozen files in each repository.
  MakeDirectory("template/hooks");
  MakeFile("template/info/exclude", "# Excluded\n");
}

void CopyTest::StartAgent() {
  LoopbackInstance::Options options;
  options.name = "agent";
  options.sshd_options = {"SetEnv HOME=" + MakeDirectory("guest-home").string() +
                          " PATH=" + MakeDirectory("guest-bin").string() +
                          ":/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"};
  MakeDirectory("host-bin");
  StartInstance(std::move(options));
}

void CopyTest::MakeProject(const std::string& name, const std::string& script) {
  project = Path(name) / "project";
  copy = Path(name + "-copy");
  Shell(MakeDirectory(name), kRepository + script);
}

std::string CopyTest::Shell(const fs::path& directory, const std::string& script) const {
  ChildProcess::Options options;
  options.arguments = {"sh", "-euc", script};
  options.environment = kIdentity;
  options.environment.insert(kNoMaintenance.begin(), kNoMaintenance.end());
  options.environment["HOME"] = Path().string();
  options.environment["IN_TEST"] = "1";
  options.environment["GIT_TEMPLATE_DIR"] = Path("template").string();
  options.working_directory = directory;
  ProcessResult result = RunProcess(options);
  EXPECT_EQ(result.exit_code, 0) << script << "\n" << result.output << result.error;
  if (result.output.ends_with('\n')) result.output.pop_back();
  return result.output;
}

ChildProcess::Options CopyTest::CommandOptions(const Command& words) const {
  ChildProcess::Options options = ServerOptions(words);
  options.environment["PATH"] = Path("host-bin").string() + ":" + std::getenv("PATH");
  options.working_directory = project;
  return options;
}

ProcessResult CopyTest::Run(const Command& words) const {
  return RunProcess(CommandOptions(words));
}

ProcessResult CopyTest::Succeed(const Command& words) const {
  ProcessResult result = Run(words);
  EXPECT_EQ(result.exit_code, 0) << words.front() << ": " << result.output << result.error;
  return result;
}

std::string CopyTest::Fail(const Command& words) const {
  const ProcessResult result = Run(words);
  EXPECT_EQ(result.exit_code, 1) << words.front() << ": " << result.output << result.error;
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
  EXPECT_TRUE(IsPrintable(result.error)) << result.error;
  EXPECT_LT(result.error.size(), 1000U);
  return result.error;
}

Files CopyTest::FilesOfCommit(const std::string& commit) const {
  // A bare repository without the project's configuration, which may have filters.
  InProject("id=$(git rev-parse '" + commit + "^{commit}')\n" + R"sh(
    rm -rf ../bare ../checkout
    git init -q --bare --object-format="$(git rev-parse --show-object-format)" ../bare
    (cd "$(git rev-parse --git-path objects)" && pwd) > ../bare/objects/info/alternates
    mkdir ../checkout
    export GIT_DIR=../bare GIT_WORK_TREE=../checkout
    git read-tree "$id"
    git checkout-index -a)sh");
  Files files = FilesOf(project.parent_path() / "checkout");
  fs::remove_all(project.parent_path() / "checkout");
  fs::remove_all(project.parent_path() / "bare");
  return files;
}

fs::path CopyTest::SideRepository() const {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(LimaHome() / "agent/mcp-copy")) {
    if (!entry.path().string().ends_with("/objects/info/alternates")) continue;
    const fs::path objects = entry.path().parent_path().parent_path();
    const bool is_aside = objects.parent_path().filename().string().find('-') != std::string::npos;
    if (is_aside) continue;
    if (ReadFile(entry.path()).find(project.parent_path().string() + "/") != std::string::npos) {
      found.push_back(objects.parent_path());
    }
  }
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? fs::path() : found.front();
}

Snapshot CopyTest::Kept() const {
  Snapshot kept = SnapshotOf(SideRepository());
  std::erase_if(kept, [](const auto& entry) {
    const std::string& name = entry.first;
    // Times of directories change when a lock or a quarantine comes and goes.
    return name.ends_with("/") && name != "incoming/";
  });
  return kept;
}

void CopyTest::MakeTrap() {
  MakeProgram("trap",
              "[ -z \"${IN_TEST:-}\" ] || exec cat\n"
              "echo \"$0 $*\" >> " +
                  Path("ran-").string() +
                  "$(test -n \"${SSH_CONNECTION:-}\" && echo in-guest || echo on-host)\ncat\n");
}

std::string CopyTest::Ran(const std::string& where) const {
  const fs::path record = Path("ran-" + where);
  return fs::exists(record) ? ReadFile(record) : "";
}

}  // namespace integration
