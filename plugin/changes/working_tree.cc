#include "changes/working_tree.h"

#include <sys/stat.h>

#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "changes/state.h"
#include "copy/copy.h"
#include "support/errors.h"
#include "support/printable.h"
#include "support/units.h"

namespace changes {
namespace {

namespace fs = std::filesystem;
using support::CallError;

constexpr std::size_t kMaxPackedRefs = std::size_t{64} << 20;

/// Beside HEAD, the attributes of the project would hide changes: `* -diff`.
constexpr const char* kAttributes = "* !diff\n";

/// The first line of one of git's files; empty if it cannot be read.
std::string FirstLine(const fs::path& file) {
  constexpr std::size_t kMaxLine = 8192;
  const std::string text = ReadRegularFile(file, kMaxLine).value_or("");
  return text.substr(0, text.find('\n'));
}

/// The commit of a reference such as refs/heads/main; empty if there is none.
std::string CommitOf(const std::string& reference, const fs::path& common) {
  const std::string id = FirstLine(common / reference);
  if (!id.empty()) return id;
  const auto packed = ReadRegularFile(common / "packed-refs", kMaxPackedRefs);
  for (const std::string& line : copy::Split(packed.value_or(""), '\n')) {
    if (line.ends_with(" " + reference)) return line.substr(0, line.find(' '));
  }
  return "";
}

/// Found without git, which would obey the repository's settings.
copy::Project ReadRepository(const fs::path& top) {
  constexpr std::string_view kLink = "gitdir: ";
  constexpr std::string_view kReference = "ref: ";
  std::error_code unknown;
  if (!fs::exists(fs::symlink_status(top / ".git", unknown))) {
    throw CallError(top.string() + " is not in a git repository: git init, and commit once.");
  }
  copy::Project project;
  project.top = top;
  project.git_directory = top / ".git";
  const std::string link = FirstLine(project.git_directory);
  if (link.starts_with(kLink)) project.git_directory = top / link.substr(kLink.size());
  const fs::path common = project.git_directory / FirstLine(project.git_directory / "commondir");
  project.objects = fs::weakly_canonical(common / "objects");
  project.head = FirstLine(project.git_directory / "HEAD");
  if (project.head.starts_with(kReference)) {
    project.head = CommitOf(project.head.substr(kReference.size()), common);
  }
  if (!copy::IsObjectId(project.head)) {
    throw CallError(top.string() +
                    " has no commit that can be read without git: git add -A && git commit. "
                    "(Repositories with reftable have none.)");
  }
  project.format = project.head.size() == 40 ? "sha1" : "sha256";
  return project;
}

/// Adds the untracked files to git's index, so that they count as new. Says what is left out.
void AddUntracked(const copy::Git& git) {
  const std::string empty = git.Require({"hash-object", "--stdin"}, "git cannot hash");
  std::string entries;
  for (const std::string& path :
       copy::Split(git.Require({"ls-files", "-z", "-o", "--exclude-standard"},
                               "git cannot list the untracked files"),
                   '\0')) {
    if (path.ends_with('/')) {
      std::cerr << "Note: not shown, since it is a repository of its own: "
                << support::Printable(path) << '\n';
    } else {
      entries += "100644 " + empty + "\t" + path + '\0';
    }
  }
  git.Require({"update-index", "-z", "--index-info"}, "git cannot write its index", entries);
}

void CheckFiles(const copy::Git& git, const copy::Project& project, std::uint64_t max_size) {
  std::uint64_t size = 0;
  for (const copy::RawChange& change : copy::ParseRaw(git.Require(
           {"diff", "--raw", "-z", "--no-renames", "--ignore-submodules=all", project.head},
           "git cannot compare the working tree with HEAD"))) {
    struct stat status {};
    if (::lstat((project.top / change.path).c_str(), &status) != 0) continue;
    if (S_ISREG(status.st_mode)) size += static_cast<std::uint64_t>(status.st_size);
    if (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode) || S_ISDIR(status.st_mode)) continue;
    throw CallError(support::Printable(change.path) +
                    " is no regular file, so git cannot compare it; remove it");
  }
  if (size <= max_size) return;
  throw CallError("The changed files have more than " + support::FormatByteCount(max_size) +
                  " (--max-size).");
}

}  // namespace

void PrintWorkingTree(const fs::path& instance_directory, const fs::path& top, bool only_names,
                      std::uint64_t max_size) {
  const copy::Project project = ReadRepository(top);
  copy::SideRepository side(copy::SidePlace(instance_directory, top.string()));
  side.Prepare(project);
  fs::create_directories(side.path() / "info");
  copy::WriteText(side.path() / "info/attributes", kAttributes);
  const copy::Git git = side.git().With({"GIT_WORK_TREE=" + top.string()});
  git.Require({"read-tree", "-i", "-m", project.head}, "git cannot read HEAD");
  AddUntracked(git);
  CheckFiles(git, project, max_size);
  copy::PrintDiff(git, {"--ignore-submodules=all", project.head}, only_names);
}

}  // namespace changes
