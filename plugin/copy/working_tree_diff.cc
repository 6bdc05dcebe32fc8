// SPDX-License-Identifier: Apache-2.0
#include "copy/working_tree_diff.h"

#include <sys/stat.h>

#include <chrono>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "copy/copy.h"
#include "exposure/git_directory.h"
#include "exposure/names.h"
#include "exposure/state.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/format.h"
#include "support/units.h"

namespace copy {

using exposure::List;
using exposure::ReadRegularFile;
using exposure::Visible;
namespace {

namespace fs = std::filesystem;
using support::CommandError;

constexpr std::size_t kMaxPackedRefs = std::size_t{64} << 20;
constexpr std::chrono::minutes kMaxTime{10};

/// The attributes of the project would hide changes: all, or what they convert.
constexpr const char* kAttributes = "* !diff -ident !working-tree-encoding\n";

/// The commit of a reference such as refs/heads/main; empty if there is none.
std::string CommitOf(const std::string& reference, const fs::path& common) {
  const std::string id = exposure::FirstLine(common / reference);
  if (!id.empty()) return id;
  const std::string packed =
      ReadRegularFile(common / "packed-refs", kMaxPackedRefs).value_or("") + "\n";
  const std::size_t end = packed.find(" " + reference + "\n");
  if (end == packed.npos) return "";
  const std::size_t begin = packed.rfind('\n', end) + 1;  // 0 in the first line
  return packed.substr(begin, end - begin);
}

/// Found without git, which would obey the repository's settings.
Project ReadRepository(const fs::path& top) {
  constexpr std::string_view kReference = "ref: ";
  std::error_code unknown;
  if (!fs::exists(fs::symlink_status(top / ".git", unknown)))
    throw CommandError("{} is not in a git repository: git init, and commit once.", top.string());
  Project project;
  project.top = top;
  const auto [directory, common] = exposure::GitDirectory(top);
  project.git_directory = directory;
  project.objects = fs::weakly_canonical(common / "objects");
  project.head = exposure::FirstLine(project.git_directory / "HEAD");
  if (project.head.starts_with(kReference)) {
    project.head = CommitOf(project.head.substr(kReference.size()), common);
  }
  if (!IsObjectId(project.head)) {
    throw CommandError(
        "{} has no commit that can be read without git: git add -A && git commit. "
        "(Repositories with reftable have none.)",
        top.string());
  }
  project.format = project.head.size() == 40 ? "sha1" : "sha256";
  return project;
}

/// Throws if git would read it without an end.
void CheckFile(const fs::path& top, const std::string& path, std::uint64_t max_size) {
  struct stat status {};
  if (::lstat((top / path).c_str(), &status) != 0 || S_ISLNK(status.st_mode) ||
      S_ISDIR(status.st_mode)) {
    return;
  }
  if (!S_ISREG(status.st_mode)) {
    throw CommandError("{} is no regular file: git cannot compare it. Remove it",
                       exposure::Visible(path));
  }
  if (static_cast<std::uint64_t>(status.st_size) <= max_size) return;
  throw CommandError("{} has more than {}; raise --max-size", exposure::Visible(path),
                     support::FormatByteCount(max_size));
}

/// HEAD, and the untracked files, so that they count as new. Says what is left out.
void WriteIndex(const git::Git& git, const Project& project, std::uint64_t max_size) {
  git.Require({"read-tree", project.head}, "git cannot read HEAD");
  const std::string empty = git.Require({"hash-object", "--stdin"}, "git cannot hash");
  const std::string files =  // a letter, a space, the path, NUL
      git.Require({"ls-files", "-z", "-t", "-c", "-o", "--exclude-standard"},
                  "git cannot list the files");
  std::string entries;
  std::vector<std::string> repositories;
  std::set<fs::path> directories;
  for (const std::string& line : git::Split(files, '\0')) {
    const std::string path = line.substr(2);
    CheckFile(project.top, path, max_size);
    for (fs::path above = path; !above.empty();) {
      above = above.parent_path();
      if (!directories.insert(above).second) break;
      CheckFile(project.top, (above / ".gitattributes").string(), max_size);
    }
    if (!line.starts_with('?')) continue;
    if (path.ends_with('/')) {
      repositories.push_back(exposure::Visible(path));
    } else {
      entries += "100644 " + empty + "\t" + path + '\0';
    }
  }
  git.Require({"update-index", "-z", "--index-info"}, "git cannot write its index", entries);
  if (repositories.empty()) return;
  std::cerr << support::Format("Note: not shown, since they are repositories of their own: {}\n",
                               exposure::List(repositories));
}

}  // namespace

void PrintWorkingTree(const fs::path& instance_directory, const fs::path& top, bool only_names,
                      std::uint64_t max_size) {
  const Project project = ReadRepository(top);
  SideRepository side(SidePlace(instance_directory, top.string()));
  side.Prepare(project);
  fs::create_directories(side.path() / "info");
  support::WriteText(side.path() / "info/attributes", kAttributes);
  const git::Git git = side.git().In(top, kMaxTime);
  WriteIndex(git, project, max_size);
  PrintDiff(git, {"--ignore-submodules=all", project.head}, only_names);
}

}  // namespace copy
