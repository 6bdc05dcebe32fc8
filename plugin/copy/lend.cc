// SPDX-License-Identifier: Apache-2.0
#include "copy/lend.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "copy/snapshot.h"
#include "paths/names.h"
#include "support/errors.h"
#include "support/printable.h"
#include "support/units.h"

namespace copy {

using git::EachWithNul;
using git::Split;
namespace {

namespace fs = std::filesystem;
using support::Error;
using support::Format;
using Names = std::vector<std::string>;

constexpr const char* kRefused = "no";

/// Names in one question: nobody reads a longer list.
constexpr std::size_t kMaxAsked = 40;

/// Bytes of .worktreeinclude.
constexpr std::uintmax_t kMaxPatterns = std::uintmax_t{64} << 10;

/// Bytes of a path.
constexpr std::size_t kMaxName = 4096;

/// The ids, or kRefused, by names.
std::map<std::string, std::string> ReadLent(const CopyFacts& facts) {
  std::map<std::string, std::string> lent;
  for (const std::string& line : Split(facts.lent, '\n')) {
    const std::size_t tab = line.find('\t');
    lent[line.substr(tab + 1)] = line.substr(0, tab);
  }
  return lent;
}

std::string Text(const std::map<std::string, std::string>& lent) {
  std::string text;
  for (const auto& [name, id] : lent) text += Format("{}\t{}\n", id, name);
  return text;
}

/// A link, and what is behind one, is none. Facts have lines.
bool IsReadableFile(const fs::path& top, const std::string& name) {
  std::error_code none;
  return fs::is_regular_file(fs::symlink_status(top / name, none)) &&
         ::access((top / name).c_str(), R_OK) == 0 && name.size() <= kMaxName &&
         support::Printable(name) == name;
}

/// What .worktreeinclude names, and git ignores.
Names Candidates(const Project& project, const Git& users) {
  const fs::path file = project.top / ".worktreeinclude";
  std::error_code none;
  const bool is_usable = fs::is_regular_file(fs::symlink_status(file, none)) &&
                         fs::file_size(file, none) <= kMaxPatterns;
  if (!is_usable) return {};
  const Names named = Split(
      users.Run({"ls-files", "-z", "-o", "-i", "--exclude-from=.worktreeinclude"}).output, '\0');
  return Split(users.Run({"check-ignore", "-z", "--stdin"}, EachWithNul(named)).output, '\0');
}

/// The ignored files of a directory, or a file that git does not track.
Names Included(const Git& users, const std::string& name) {
  const Git literal = users.With({{"GIT_LITERAL_PATHSPECS", "1"}});
  Names names = Split(
      literal.Run({"ls-files", "-z", "-o", "-i", "--exclude-standard", "--", name}).output, '\0');
  if (names.empty()) {
    names = Split(literal.Run({"ls-files", "-z", "-o", "--", name}).output, '\0');
    std::erase_if(names, [&](const std::string& other) { return other != name; });
  }
  if (names.empty()) {
    throw Error("--include {}: there is no such file that git ignores or does not track", name);
  }
  if (names.size() <= kMaxLent) return names;
  throw Error(
      "--include {}: {} files are too many to lend; make them in the guest: --setup COMMAND", name,
      names.size());
}

std::optional<bool> AskFor(const fs::path& top, const Names& names, const Ask& ask) {
  if (names.empty() || names.size() > kMaxAsked || !ask) return std::nullopt;
  std::string text = "Ignored files that .worktreeinclude names:\n";
  std::error_code none;
  for (const std::string& name : names) {
    text += Format("  {} ({})\n", paths::Visible(name),
                   support::FormatByteCount(fs::file_size(top / name, none)));
  }
  return ask(text +
             "They may hold secrets. The guest has a network, and the agent's model sees what it "
             "reads. Lend them? [y/N] ");
}

/// A killed one leaves at most the temporary file, in .git. Returns false if a directory is there.
bool SendOne(Copy& copy, const File& file) {
  const auto context = support::Context().WithTimeout(std::chrono::seconds(60));
  const std::string& directory = copy.side().facts().directory;
  const std::string temporary = directory + "/.git/limactl-mcp.lent";
  constexpr unsigned kExecutable = 0100;
  (void)copy.guest().Execute(guest::Request::Unlink(temporary), context);
  SendFile(copy, fs::path(copy.side().place().top) / file.path, temporary,
           (file.mode & kExecutable) != 0 ? 0700 : 0600);
  std::vector<guest::Request> requests;
  for (std::size_t end = file.path.find('/'); end != std::string::npos;
       end = file.path.find('/', end + 1)) {
    requests.push_back(
        guest::Request::MakeDirectory(directory + "/" + file.path.substr(0, end), 0755));
  }
  requests.push_back(guest::Request::Rename(temporary, directory + "/" + file.path));
  return !copy.guest().RoundTrip(requests, context).back().failure;
}

}  // namespace

Names LentNames(const CopyFacts& facts) {
  Names names;
  for (const auto& [name, id] : ReadLent(facts)) {
    if (id != kRefused) names.push_back(name);
  }
  return names;
}

std::set<std::string> LentIds(const CopyFacts& facts) {
  std::set<std::string> ids;
  for (const auto& [name, id] : ReadLent(facts)) ids.insert(id);
  return ids;
}

Names ChooseLent(const Project& project, const Git& users, const SendOptions& options,
                 CopyFacts& facts, exposure::Notes& notes) {
  auto lent = ReadLent(facts);
  std::set<std::string> unfit;
  for (const std::string& included : options.include) {
    if (included.empty()) {
      lent.clear();
      notes.Add("Nothing is lent any more. What was, stays in the copy until that is dropped.");
      continue;
    }
    for (const std::string& name : Included(users, included)) {
      if (!IsReadableFile(project.top, name))
        unfit.insert(name);
      else if (lent[name] == kRefused)
        lent[name].clear();
    }
  }
  Names asked;
  for (const std::string& name : Candidates(project, users)) {
    if (lent.contains(name)) continue;
    if (IsReadableFile(project.top, name)) {
      asked.push_back(name);
    } else {
      unfit.insert(name);
    }
  }
  if (const auto answer = AskFor(project.top, asked, options.ask)) {
    for (const std::string& name : asked) lent[name] = *answer ? "" : kRefused;
    asked.clear();
  }
  notes.AddNote("not lent, since they are no regular files with printable names that you can read:",
                {unfit.begin(), unfit.end()});
  facts.lent = Text(lent);
  return asked;
}

void ForgetTracked(const SideRepository& side, const std::string& commit, CopyFacts& facts) {
  auto lent = ReadLent(facts);
  if (lent.empty()) return;
  for (const git::TreeEntry& entry : git::Tree(side.git(), commit)) lent.erase(entry.path);
  facts.lent = Text(lent);
}

void SendLent(Copy& copy, bool all, CopyFacts& facts, exposure::Notes& notes) {
  const fs::path top = copy.side().place().top;
  auto lent = ReadLent(facts);
  Names there;
  Names stay;
  std::uint64_t size = 0;
  for (const std::string& name : LentNames(facts)) {
    const bool is_there = IsReadableFile(top, name);
    (is_there ? there : stay).push_back(name);
    if (is_there) size += fs::file_size(top / name);
  }
  if (there.size() > kMaxLent || size > kMaxLentSize) {
    notes.Add(
        Format("Note: nothing is lent: {} with {} are more than 1,000 or 100MiB. To begin the list "
               "anew: limactl mcp copy {} --include ''",
               support::Count(there.size(), "file"), support::FormatByteCount(size),
               copy.side().place().selector));
    return;
  }
  Names sent;
  for (const File& file : LookAt(copy.side(), there)) {
    if (!file.IsRegular() || (!all && lent[file.path] == file.id)) continue;
    if (SendOne(copy, file)) {
      lent[file.path] = file.id;
      sent.push_back(file.path);
    } else {
      stay.push_back(file.path);
    }
  }
  if (!sent.empty()) notes.Add(Format("Lent: {}.", Named(sent)));
  notes.AddNote("lent files that cannot be read here, or written there, are there as they were:",
                stay);
  facts.lent = Text(lent);
}

Names FindLent(const SideRepository& side, const std::vector<exposure::Change>& changes) {
  constexpr std::uint64_t kMinContent = 16;
  const auto lent = ReadLent(side.facts());
  const std::set<std::string> ids = LentIds(side.facts());
  std::set<std::string> found;
  for (const exposure::Change& change : changes) {
    const auto own = lent.find(change.path);
    const bool has_name = own != lent.end() && own->second != kRefused;
    const bool has_bytes =
        ids.contains(change.id) &&
        std::stoull("0" + side.git().Run({"cat-file", "-s", change.id}).Line()) >= kMinContent;
    if (has_name || has_bytes)
      found.insert(paths::Visible(change.path) +
                   (change.note.empty() ? "" : Format(" ({})", paths::Visible(change.note))));
  }
  return {found.begin(), found.end()};
}

}  // namespace copy
