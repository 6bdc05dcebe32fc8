// SPDX-License-Identifier: Apache-2.0
#include "copy/side_repository.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <tuple>

#include "copy/project.h"
#include "copy/set_aside.h"
#include "git/objects.h"
#include "support/context.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/log.h"
#include "support/sha256.h"

namespace copy {

using git::Existing;
using git::Split;
namespace {

namespace fs = std::filesystem;
using support::Format;

constexpr const char* kCopiesDirectory = "mcp-copy";
constexpr const char* kFacts = "copy";  // a file
constexpr const char* kScratch = "incoming";
constexpr std::array kFields = {&CopyFacts::project,  &CopyFacts::directory, &CopyFacts::branch,
                                &CopyFacts::sent,     &CopyFacts::base,      &CopyFacts::work,
                                &CopyFacts::taken,    &CopyFacts::applied,   &CopyFacts::branches,
                                &CopyFacts::replaced, &CopyFacts::setup,     &CopyFacts::setup_end,
                                &CopyFacts::name,     &CopyFacts::lent};
constexpr std::size_t kFirstId = 3;
constexpr std::size_t kAlways = 10;  // fields that are written also if they are empty
constexpr std::size_t kIdLength = 16;
constexpr std::chrono::seconds kLockWait{10};

/// "process 4711"
std::string HolderOf(const fs::path& file) {
  const std::string number = support::ReadText(file);
  return number.empty() ? "another process" : Format("process {}", number);
}

FileLock TakeWorkLock(const fs::path& file) {
  auto lock = LockFile(file, LockKind::kExclusive, kLockWait);
  if (!lock) {
    throw support::Error(
        "Another limactl mcp works with this copy ({}). Try again once it has ended.",
        HolderOf(file));
  }
  return std::move(*lock);
}

void BorrowObjects(const fs::path& repository, const Project& project) {
  support::WriteText(repository / "objects/info/alternates",
                     Quoted(project.objects.string()) + "\n");
}

void RemoveLeftovers(const fs::path& repository) {
  fs::remove_all(repository / kScratch);
  std::error_code gone;
  for (const auto& entry : fs::recursive_directory_iterator(repository, gone)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".lock") || name.starts_with("tmp_")) fs::remove(entry.path(), gone);
  }
}

}  // namespace

std::vector<std::string> CopyFacts::Commits() const {
  std::vector<std::string> ids = {sent, base, work, taken, applied};
  std::erase(ids, "");
  return ids;
}

std::optional<FileLock> LockFile(const fs::path& file, LockKind kind,
                                 std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kPause{50};
  constexpr std::chrono::seconds kQuiet{2};
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  FileLock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const auto start = support::Clock::now();
  bool is_said = false;
  const int operation = (kind == LockKind::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  while (!lock.valid() || ::flock(lock.get(), operation) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw support::Error("cannot lock {}: {}", file.string(),
                           std::generic_category().message(errno));
    }
    const auto waited = support::Clock::now() - start;
    if (waited >= wait) return std::nullopt;
    if (!std::exchange(is_said, is_said || waited >= kQuiet) && is_said) {
      support::LogInfo(Format("waiting for {}, which works with this copy", HolderOf(file)));
    }
    support::Pause(kPause, {});
  }
  const std::string number = std::to_string(::getpid());
  // Only for messages.
  if (::ftruncate(lock.get(), 0) != 0 || ::write(lock.get(), number.data(), number.size()) < 0)
    support::LogWarning(Format("cannot write {}", file.string()));
  return lock;
}

SidePlace::SidePlace(const fs::path& directory, std::string project_path,
                     const std::string& copy_name)
    : instance(directory.filename()),
      name(copy_name),
      selector(instance + (name.empty() ? "" : " --name " + name)),
      arguments(selector),
      instance_directory(directory),
      project(std::move(project_path)),
      top(project),
      id(support::Sha256(name.empty() ? project : project + '\0' + name).substr(0, kIdLength)),
      repository(directory / kCopiesDirectory / (id + ".git")) {}

std::optional<SidePlace> SidePlace::Find(const fs::path& instance_directory, const fs::path& path,
                                         const std::string& name) {
  for (fs::path above = path;; above = above.parent_path()) {
    SidePlace place(instance_directory, above.string(), name);
    if (place.ReadFacts()) return place;
    if (above == above.parent_path()) return std::nullopt;
  }
}

std::optional<CopyFacts> SidePlace::ReadFacts() const {
  return ReadFactsIn(repository);
}

std::vector<fs::path> ListRepositories(const fs::path& instance_directory) {
  std::vector<fs::path> all;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(instance_directory / kCopiesDirectory, none)) {
    if (entry.path().extension() == ".git") all.push_back(entry.path());
  }
  return all;
}

std::map<std::string, TakenBranch> TakenBranches(const CopyFacts& facts) {
  std::map<std::string, TakenBranch> branches;
  for (const std::string& line : Split(facts.branches, '\n')) {
    const std::vector<std::string> words = Split(line, '\t');
    if (words.size() == 3) branches[words[0]] = {words[1], words[2]};
  }
  return branches;
}

std::optional<CopyFacts> ReadFactsIn(const fs::path& repository) {
  const auto parts = Split(support::ReadText(repository / kFacts), '\0');
  if (parts.size() <= kFirstId || parts.size() > kFields.size()) return std::nullopt;
  CopyFacts facts;
  for (std::size_t i = 0; i < parts.size(); ++i) facts.*kFields.at(i) = parts[i];
  return facts;
}

std::vector<CopyFacts> ListFacts(const fs::path& instance_directory) {
  std::vector<CopyFacts> all;
  for (const fs::path& repository : ListRepositories(instance_directory)) {
    const bool is_aside = repository.filename().string().find('-') != std::string::npos;
    auto facts = is_aside ? std::nullopt : ReadFactsIn(repository);
    if (facts) all.push_back(std::move(*facts));
  }
  std::sort(all.begin(), all.end(), [](const CopyFacts& a, const CopyFacts& b) {
    return std::tie(a.project, a.name) < std::tie(b.project, b.name);
  });
  return all;
}

void RemoveRecord(const fs::path& repository) {
  fs::remove(repository / kFacts);  // first: without it the rest counts as nothing
  fs::remove_all(repository);
}

std::optional<FileLock> SidePlace::TakeUse(LockKind kind) const {
  return LockFile(repository.string() + ".use", kind, std::chrono::seconds(1));
}

FileLock SidePlace::LockTree() const {
  const std::string tree = support::Sha256(top).substr(0, kIdLength);
  auto lock = LockFile(instance_directory.parent_path() / "_config" / ("mcp-" + tree + ".lock"),
                       LockKind::kExclusive, kLockWait);
  if (!lock) throw support::Error("Another limactl mcp changes {}.", top);
  return std::move(*lock);
}

std::string SidePlace::DefaultDirectory() const {
  return name.empty() ? project : project + "--" + name;
}

std::string SidePlace::InUseText() const {
  return Format("An agent works in this copy ({}); end it first.",
                HolderOf(repository.string() + ".use"));
}

std::string SidePlace::NoCopyText() const {
  std::string text = Format("There is no copy{} of {} in {}: limactl mcp copy {}",
                            name.empty() ? "" : " \"" + name + "\"", project, instance, selector);
  std::string others;
  for (const CopyFacts& facts : ListFacts(instance_directory)) {
    if (facts.project == project && !facts.name.empty()) others += " " + facts.name;
  }
  if (!others.empty()) text += Format(". Copies with a name (--name):{}", others);
  if (!ListSetAside(instance_directory, this).empty())
    text += Format(". What was dropped: limactl mcp drop {} --undo", arguments);
  return text;
}

SideRepository::SideRepository(SidePlace place, const std::string& directory)
    : place_(std::move(place)),
      lock_(TakeWorkLock(place_.repository.string() + ".work")),
      git_(Git::Neutral(place_.repository, lock_.get())),
      facts_(place_.ReadFacts().value_or(
          CopyFacts{.project = place_.project,
                    .directory = directory.empty() ? place_.DefaultDirectory() : directory,
                    .name = place_.name})) {
  if (!directory.empty() && directory != facts_.directory) {
    throw support::Error("{} {} {} {}. To have it in another directory, first: limactl mcp drop {}",
                         facts_.sent.empty() ? "A copy of" : "The copy of", facts_.project,
                         facts_.sent.empty() ? "was begun in" : "is in", facts_.directory,
                         place_.selector);
  }
  RemoveLeftovers(place_.repository);
}

SideRepository::~SideRepository() {
  std::error_code ignored;
  fs::remove_all(path() / kScratch, ignored);
}

void SideRepository::Prepare(const Project& project) {
  if (!place_.ReadFacts()) {
    fs::remove_all(path());
    git_.Require({"init", "-q", "--bare", "--template=", "--object-format=" + project.format},
                 Format("cannot make {}", path().string()));
  }
  fs::permissions(path(), fs::perms::owner_all);
  BorrowObjects(path(), project);
  std::error_code none;
  fs::remove(path() / "shallow", none);
  if (project.is_partial) {
    support::WriteText(path() / "shallow", project.head + "\n");  // no history
  } else if (fs::exists(project.shallow, none)) {
    fs::copy_file(project.shallow, path() / "shallow");
  }
}

void SideRepository::Follow(const Project& moved) {
  place_.top = moved.top;
  BorrowObjects(path(), moved);
  if (!Existing(git_, {facts_.base}).empty()) return;
  throw support::Error(
      "{} is gone, and {} has not the commit that its copy began with: "
      "run this in the moved project",
      place_.project, place_.top);
}

/// The refs, in git's own form, hold the commits of the old and the new facts, since this may be
/// killed in between.
void SideRepository::Save(const CopyFacts& facts) {
  std::set<std::string> ids;
  for (const CopyFacts& each : {facts_, facts}) {
    for (std::string& id : each.Commits()) ids.insert(std::move(id));
  }
  std::string refs;
  for (const std::string& id : ids) refs += Format("{} refs/keep/{}\n", id, id);
  fs::remove_all(path() / "refs/keep");  // of version 1.0
  support::WriteText(path() / "packed-refs", refs);
  std::string text;
  for (const auto field : kFields) text += facts.*field + '\0';
  std::size_t fields = kFields.size();
  // Older versions know no others.
  for (; fields > kAlways && (facts.*kFields.at(fields - 1)).empty(); --fields) text.pop_back();
  support::WriteText(path() / kFacts, text);
  facts_ = facts;
}

void SideRepository::MoveTo(const fs::path& repository) {
  fs::rename(path(), repository);
  facts_ = {.project = place_.project, .directory = facts_.directory, .name = place_.name};
}

void SideRepository::MoveFrom(const fs::path& repository) {
  fs::remove_all(path());
  fs::rename(repository, path());
  facts_ = place_.ReadFacts().value_or(facts_);
}

fs::path SideRepository::MakeScratch() const {
  fs::remove_all(path() / kScratch);
  fs::create_directory(path() / kScratch);
  return path() / kScratch;
}

fs::path SideRepository::MakePack(const Git& git, const std::string& revisions) const {
  const fs::path pack = MakeScratch() / "pack";
  // Without deltas: to search for them takes longer than to send without them.
  const std::string id = git.Require(
      {"pack-objects", "--revs", "--window=0", "--delta-base-offset", "-q", pack.string()},
      Format("git cannot pack {}", facts_.project), revisions);
  return pack.string() + "-" + id + ".pack";
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') quoted += '\\';
    quoted += character == '\n' ? "\\n" : std::string(1, character);
  }
  return quoted + '"';
}

bool IsObjectId(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace copy
