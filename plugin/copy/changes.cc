#include "copy/changes.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "paths/host_programs.h"
#include "support/errors.h"

namespace copy {
namespace {

/// Of one git's output, and of what is compared.
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxTarget = 4096;

/// The output of git, which the guest may have made large.
std::string Read(const Git& git, const Git::Arguments& arguments, bool& is_cut,
                 const std::string& input = {}) {
  const support::FileDescriptor text = TextFile(input);
  GitChild child = git.Start(arguments, {.input = text.get()});
  std::string output;
  child.Read([&](std::string_view bytes) {
    output += bytes;
    return output.size() <= kMaxBytes;
  });
  if (output.size() > kMaxBytes) {
    is_cut = true;
  } else if (!child.Finish()) {
    throw support::CallError("git cannot list what was changed: " + child.Words());
  }
  return output;
}

Change::Kind KindOf(const std::string& mode) {
  using enum Change::Kind;
  if (mode == "000000") return kDeleted;
  if (mode == "100755") return kProgram;
  if (mode == "120000") return kLink;
  return mode == "160000" ? kRepository : kFile;
}

void ReadTargets(const Git& git, const std::string& ids, Changes& changes) {
  if (ids.empty()) return;
  // "ID blob SIZE", line feed, target, line feed
  std::istringstream text(Read(git, {"cat-file", "--batch"}, changes.is_cut, ids));
  for (Change& change : changes.list) {
    if (change.kind != Change::Kind::kLink) continue;
    std::string id;
    std::string type;
    std::streamsize size = 0;
    text >> id >> type >> size;
    text.get();
    std::string target(static_cast<std::size_t>(std::min<std::streamsize>(size, kMaxTarget)), '\0');
    text.read(target.data(), static_cast<std::streamsize>(target.size()));
    text.ignore(size - static_cast<std::streamsize>(target.size()));
    if (text && size <= static_cast<std::streamsize>(kMaxTarget)) change.target = std::move(target);
  }
}

/// The ends of the path and of each directory in it, beyond what it has in common with `previous`.
std::vector<std::size_t> NewPrefixes(std::string_view path, std::string_view previous) {
  const auto common = std::mismatch(path.begin(), path.end(), previous.begin(), previous.end());
  std::vector<std::size_t> ends;
  for (std::size_t end = static_cast<std::size_t>(common.first - path.begin()); end <= path.size();
       ++end) {
    end = std::min(path.find('/', end), path.size());
    if (end > 0) ends.push_back(end);
  }
  return ends;
}

/// Compares new paths, and the directories above them, with the tree's.
void FindOthers(const Git& git, const std::string& work, Changes& changes) {
  struct Added {
    std::string path;
    Change* change;
  };
  std::unordered_map<std::string, Added> added;
  std::size_t left = kMaxBytes;
  const auto for_each_new = [&](const std::string& path, std::string_view previous, auto use) {
    for (const std::size_t end : NewPrefixes(path, previous)) {
      changes.is_cut = changes.is_cut || left < end;
      if (left < end) return;
      left -= end;
      use(path.substr(0, end));
    }
  };
  std::string_view previous;
  for (Change& change : changes.list) {
    if (!change.is_new) continue;
    for_each_new(change.path, previous, [&](const std::string& path) {
      added.try_emplace(Folded(path), Added{path, &change});
    });
    previous = change.path;
  }
  if (added.empty()) return;
  const auto tree =
      Split(Read(git, {"ls-tree", "-r", "-z", "--name-only", work}, changes.is_cut), '\0');
  previous = {};
  for (const std::string& name : tree) {
    for_each_new(name, previous, [&](const std::string& path) {
      const auto found = added.find(Folded(path));
      if (found == added.end() || found->second.path == path) return;
      if (found->second.change->other.empty()) found->second.change->other = path;
    });
    previous = name;
  }
}

}  // namespace

std::string Folded(std::string_view path) {
  std::string folded;
  for (const std::string& name : Split(path, '/')) {
    folded += (folded.empty() ? "" : "/") + paths::FoldName(name);
  }
  for (char& c : folded) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return folded;
}

bool LeadsOut(std::string_view path, std::string_view target) {
  auto above = std::count(path.begin(), path.end(), '/');
  bool is_below_name = false;  // which may be a link: a ".." after it leads elsewhere
  for (const std::string& name : Split(target, '/')) {
    if (name == ".." && (is_below_name || --above < 0)) return true;
    if (name == "." || name == ".." || name.empty()) continue;
    if (Folded(name) == ".git") return true;
    is_below_name = true;
  }
  return target.starts_with('/');
}

Changes ReadChanges(const Git& git, const std::string& from, const std::string& work) {
  Changes changes;
  // ":MODE MODE ID ID STATUS", NUL, path, NUL
  const auto parts = Split(
      Read(git, {"diff-tree", "-r", "-z", "--raw", "--no-renames", from, work}, changes.is_cut),
      '\0');
  std::string ids;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    std::istringstream words(parts[i].substr(1));
    std::string before;
    std::string after;
    std::string old_id;
    std::string id;
    words >> before >> after >> old_id >> id;
    changes.list.push_back({.path = parts[i + 1],
                            .folded = Folded(parts[i + 1]),
                            .is_new = KindOf(before) == Change::Kind::kDeleted,
                            .was_program = KindOf(before) == Change::Kind::kProgram,
                            .kind = KindOf(after),
                            .target = {}});
    if (KindOf(after) == Change::Kind::kLink) ids += id + "\n";
  }
  ReadTargets(git, ids, changes);
  FindOthers(git, work, changes);
  return changes;
}

}  // namespace copy
