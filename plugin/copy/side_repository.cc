#include "copy/side_repository.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <system_error>

#include "copy/project.h"
#include "support/context.h"
#include "support/errors.h"
#include "support/sha256.h"

namespace copy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFacts = "copy";  // its file; there once the repository is complete
constexpr std::size_t kIdLength = 16;
constexpr std::chrono::seconds kLockWait{10};

FileLock TakeWorkLock(const fs::path& file) {
  auto lock = FileLock::Take(file, FileLock::Kind::kExclusive, kLockWait);
  if (!lock) throw support::CallError("Another limactl mcp works with this copy.");
  return std::move(*lock);
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Replaces the file at once, so that a killed command leaves the old one or the new one.
void WriteText(const fs::path& path, const std::string& text) {
  const fs::path temporary = path.string() + ".lock";  // SideRepository removes it
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw support::CallError("cannot write " + temporary.string());
  fs::rename(temporary, path);
}

void RemoveLeftovers(const fs::path& repository) {
  fs::remove_all(repository / "incoming");
  std::error_code gone;
  for (const auto& entry : fs::recursive_directory_iterator(repository, gone)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".lock") || name.starts_with("tmp_")) fs::remove(entry.path(), gone);
  }
}

/// As a line of objects/info/alternates, in git's C style.
std::string QuotedLine(const std::string& path) {
  std::string line = "\"";
  for (const char character : path) {
    if (character == '"' || character == '\\') line += '\\';
    line += character == '\n' ? "\\n" : std::string(1, character);
  }
  return line + "\"\n";
}

}  // namespace

std::optional<FileLock> FileLock::Take(const fs::path& file, Kind kind,
                                       std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kPause{50};
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  support::FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!opened.valid()) {
    throw support::CallError("cannot write " + file.string() + ": " +
                             std::generic_category().message(errno));
  }
  const auto until = support::Clock::now() + wait;
  while (::flock(opened.get(), (kind == Kind::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw support::CallError("cannot lock " + file.string() + ": " +
                               std::generic_category().message(errno));
    }
    if (support::Clock::now() >= until) return std::nullopt;
    support::Pause(kPause, {});
  }
  return FileLock(std::move(opened));
}

SidePlace::SidePlace(const fs::path& instance_directory, const std::string& project)
    : id(support::Sha256(project).substr(0, kIdLength)) {
  const fs::path directory = instance_directory / "mcp-copy";
  repository = directory / (id + ".git");
  work_lock = directory / (id + ".work");
  use_lock = directory / (id + ".use");
}

std::optional<SidePlace> SidePlace::Find(const fs::path& instance_directory, const fs::path& path) {
  for (fs::path above = path;; above = above.parent_path()) {
    SidePlace place(instance_directory, above.string());
    if (place.ReadFacts()) return place;
    if (above == above.parent_path()) return std::nullopt;
  }
}

std::optional<CopyFacts> SidePlace::ReadFacts() const {
  const auto parts = Split(ReadText(repository / kFacts), '\0');
  if (parts.size() != 4) return std::nullopt;
  return CopyFacts{parts[0], parts[1], parts[2], parts[3]};
}

std::optional<FileLock> SidePlace::TakeUse(FileLock::Kind kind) const {
  return FileLock::Take(use_lock, kind, std::chrono::seconds(1));
}

SideRepository::SideRepository(SidePlace place)
    : place_(std::move(place)),
      lock_(TakeWorkLock(place_.work_lock)),
      git_(Git::Neutral(place_.repository, lock_.descriptor())),
      facts_(place_.ReadFacts()) {
  RemoveLeftovers(place_.repository);
  if (facts_) ReadRefs();
}

void SideRepository::Prepare(const Project& project) {
  if (!facts_ || facts_->format != project.format) {
    fs::remove_all(path());
    refs_.clear();
    facts_.reset();
    git_.Require({"init", "-q", "--bare", "--template=", "--object-format=" + project.format},
                 "cannot make " + path().string());
  }
  Borrow(path() / "objects", project.objects);
  std::error_code none;
  fs::remove(path() / "shallow", none);
  if (project.is_partial) {
    WriteText(path() / "shallow", project.head + "\n");  // no history
  } else if (fs::exists(project.shallow, none)) {
    fs::copy_file(project.shallow, path() / "shallow");
  }
}

void SideRepository::WriteFacts(const CopyFacts& facts) {
  std::string text;
  for (const std::string* part : {&facts.format, &facts.project, &facts.directory, &facts.branch}) {
    text += *part + '\0';
  }
  WriteText(path() / kFacts, text);
  facts_ = facts;
}

void SideRepository::ReadRefs() {
  refs_.clear();
  const std::string text =
      git_.Require({"for-each-ref", "--format=%(refname:lstrip=1) %(objectname)"},
                   "cannot read " + path().string());
  for (const std::string& line : Split(text, '\n')) {
    const std::size_t space = line.find(' ');
    refs_[line.substr(0, space)] = line.substr(space + 1);
  }
}

std::string SideRepository::Ref(const std::string& name) const {
  const auto found = refs_.find(name);
  return found == refs_.end() ? "" : found->second;
}

void SideRepository::SetRefs(const std::vector<std::pair<std::string, std::string>>& refs) {
  std::string commands;
  for (const auto& [name, id] : refs) {
    commands += id.empty() ? "delete refs/" + name + "\n" : "update refs/" + name + " " + id + "\n";
  }
  git_.Require({"update-ref", "--stdin"}, "cannot write " + path().string(), commands);
  ReadRefs();
}

bool SideRepository::IsTaken(const std::string& id) const {
  return id == Ref("sent") || id == Ref("taken") || id == Ref("applied");
}

void SideRepository::Borrow(const fs::path& objects, const fs::path& lender) {
  fs::create_directories(objects / "info");
  WriteText(objects / "info/alternates", QuotedLine(lender.string()));
}

void SideRepository::Remove() {
  fs::remove(path() / kFacts);  // first: without it the rest counts as nothing
  fs::remove_all(path());
}

bool IsObjectId(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace copy
