// SPDX-License-Identifier: Apache-2.0
#include "copy/branches.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "copy/untaken.h"
#include "git/objects.h"
#include "paths/names.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/format.h"
#include "support/printable.h"
#include "support/regex.h"
#include "support/words.h"

namespace copy {

using git::Excluding;
using git::Existing;
using git::RequireSuccess;
using git::Split;
using paths::Visible;
using paths::Word;

namespace {

namespace fs = std::filesystem;
using support::Error;
using support::Format;
using support::Regex;

const std::string kBranches = "refs/heads/";
constexpr const char* kNoList = "git cannot list the branches";
constexpr const char* kReason = "limactl mcp take";

void AddPack(const Git& users, const SideRepository& side, const std::string& revisions) {
  const std::string pack = side.MakePack(side.git(), revisions);
  const support::FileDescriptor file(::open(pack.c_str(), O_RDONLY | O_CLOEXEC));
  support::Child index = users.Start({"index-pack", "--stdin"}, {.input = file.get()});
  RequireSuccess(index, "git cannot add the work to your repository");
}

/// What neither a shell nor a terminal takes for more than a name. git refuses the second kind.
std::string Plain(std::string name) {
  constexpr std::size_t kMaxName = 100;
  static const Regex others("[^\\w./+@-]+", Regex::kLatin1);
  static const Regex refused(R"((^|/)(\.|/|$)|\.\.|\.(lock)?(/|$))");
  static const Regex marks("[./]+");
  others.ReplaceAll(name, "-");
  name.resize(std::min(name.size(), kMaxName));
  if (!refused.PartialMatch(name)) return name;
  marks.ReplaceAll(name, "-");
  return "-" + name;
}

/// The name of a source in the facts. Stashes are numbered from the newest, so their numbers
/// change.
std::string KeyOf(const Source& source) {
  return support::Printable(source.is_stash() ? "refs/stash/" + source.id : source.ref);
}

/// The branch that a source gets if nothing stands in the way but `number` - 1 others.
std::string Numbered(const Source& source, int number) {
  const std::size_t name = source.branch.size();
  const std::size_t end = source.is_stash() ? source.branch.rfind('-') : name;
  if (number == 1 && end == name) return source.branch;
  return source.branch.substr(0, end) + "-" + std::to_string(number);
}

}  // namespace

Source MakeSource(const SideRepository& side, const std::string& ref, const std::string& id) {
  std::string name = RefName(ref);
  const bool is_sent = ref == kBranches + side.facts().branch;
  if (is_sent && !side.place().name.empty()) name = side.place().name;
  if (!is_sent) name = Plain(std::move(name));
  return {ref, id, side.place().instance + "/" + name};
}

void RequireBranchName(const Git& users, const std::string& name) {
  if (users.Run({"check-ref-format", "--branch", name}).Line() == name) return;
  throw Error("\"{}\" cannot be the name of a branch: --branch NAME.", support::Printable(name));
}

Branches::Branches(const Git& users, const SideRepository& side)
    : users_(users), side_(side), taken_(TakenBranches(side.facts())) {
  // The id, "*" if the branch is checked out, and the name.
  const std::string format =
      "--format=%(objectname)%(if)%(worktreepath)%(then)*%(end) %(refname:lstrip=2)";
  for (const std::string& line :
       Split(users.Require({"for-each-ref", format, kBranches}, kNoList), '\n')) {
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(space + 1);
    if (line[space - 1] == '*') checked_out_.insert(name);
    ids_[name] = line.substr(0, line.find_first_of(" *"));
    names_[support::LowerCase(name)] = name;
  }
}

/// Whether a branch that is there may move to another commit.
bool Branches::MayMove(const std::string& name, const Source& source, bool is_named) const {
  if (checked_out_.contains(name)) return false;
  const auto is_by_take = [&] {
    return users_.Run({"reflog", "-1", "--format=%gs", kBranches + name}).Line() == kReason;
  };
  const auto last = taken_.find(name);
  const std::string& id = ids_.at(name);
  // The facts are older or newer than the branch if a `take` was killed.
  if (last != taken_.end()) return last->second.id == id || is_by_take();
  return (!is_named || is_by_take()) &&
         side_.git().Run({"merge-base", "--is-ancestor", id, source.id}).ok();
}

Branch Branches::Choose(const Source& source, bool is_named) {
  for (int number = 1;; ++number) {
    const std::string name = Numbered(source, number);
    const auto last = taken_.find(name);
    const bool is_others = last != taken_.end() && last->second.source != KeyOf(source);
    if (is_others || chosen_.contains(name)) continue;
    const auto found = ids_.find(name);
    // Some file systems ignore the case of names.
    const bool is_free = found == ids_.end() && !names_.contains(support::LowerCase(name));
    const bool is_ours =
        found != ids_.end() && (found->second == source.id || MayMove(name, source, is_named));
    if (!is_free && !is_ours) continue;
    chosen_.insert(name);
    names_[support::LowerCase(name)] = name;
    return {name, is_free ? "" : found->second, source};
  }
}

void Branches::Set(SideRepository& side, const std::vector<Branch>& branches) const {
  CopyFacts facts = side.facts();
  std::vector<std::string> there = {
      facts.base, users_.Run({"rev-parse", "-q", "--verify", "HEAD^{commit}"}).Line()};
  for (const auto& [name, last] : taken_) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) there.push_back(found->second);
  }
  std::string ids;
  std::string updates;
  for (const auto& [name, old, source] : branches) {
    if (source.id == facts.work) facts.taken = source.id;
    if (old == source.id && taken_.contains(name)) continue;
    facts.branches += Format("{}\t{}\t{}\n", name, KeyOf(source), source.id);
    if (old == source.id) continue;
    ids += source.id + "\n";
    updates += Format("update {} {} {}\n", kBranches + name, source.id,
                      old.empty() ? std::string(source.id.size(), '0') : old);
  }
  // First: if this is killed, the branches are still known to be ours.
  side.Save(facts);
  if (ids.empty()) return;
  AddPack(users_, side, ids + Excluding(Existing(users_, there)));
  const git::GitOutput done = users_.Run(
      {"-c", "core.logAllRefUpdates=true", "update-ref", "-m", kReason, "--stdin"}, updates);
  if (done.ok()) return;
  throw Error(
      "git cannot set the branches. If one is in the way of another: git branch -m OLD NEW. If no "
      "git runs, remove a file that ends with .lock. {}",
      done.error_line);
}

}  // namespace copy
