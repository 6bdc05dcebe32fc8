// SPDX-License-Identifier: Apache-2.0
#include "git/objects.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"
#include "support/join.h"

namespace git {
namespace {

constexpr std::size_t kMaxRecord = std::size_t{64} << 10;
constexpr const char* kWhat = "git cannot list what was changed";

void SetCut(bool* is_cut) {
  if (is_cut == nullptr) throw support::Error("{}: too much output", kWhat);
  *is_cut = true;
}

/// Reads what `git cat-file --batch` prints: "ID TYPE SIZE", line feed, content, line feed.
class BatchReader {
 public:
  explicit BatchReader(std::uint64_t max_size) : max_size_(max_size) {}

  void Add(std::string_view bytes) {
    while (!bytes.empty()) {
      if (left_ == 0) {
        const std::size_t end = bytes.find('\n');
        header_ += bytes.substr(0, end);
        if (end == std::string_view::npos) return;
        bytes.remove_prefix(end + 1);
        Begin(Split(std::exchange(header_, ""), ' '));
        continue;
      }
      const std::size_t part = std::min<std::uint64_t>(left_, bytes.size());
      if (content_ != nullptr) *content_ += bytes.substr(0, part);
      bytes.remove_prefix(part);
      left_ -= part;
      if (left_ == 0 && content_ != nullptr) content_->pop_back();  // the line feed
    }
  }

  std::map<std::string, std::string> contents;
  std::uint64_t kept = 0;

 private:
  void Begin(const std::vector<std::string>& header) {
    if (header.size() != 3) return;  // "ID missing"
    const std::uint64_t size = std::stoull(header[2]);
    left_ = size + 1;
    content_ = size <= max_size_ ? &contents[header[0]] : nullptr;
    if (content_ == nullptr) return;
    content_->clear();
    kept += size;
  }

  const std::uint64_t max_size_;
  std::string header_;
  std::uint64_t left_ = 0;
  std::string* content_ = nullptr;
};

}  // namespace

std::vector<RawChange> ParseRaw(std::string_view raw) {
  // ":MODE MODE ID ID STATUS", NUL, path, NUL
  std::vector<RawChange> changes;
  std::vector<std::string> parts = Split(raw, '\0');
  for (std::size_t i = 1; i < parts.size(); i += 2) {
    std::vector<std::string> words = Split(parts[i - 1].substr(1), ' ');
    words.resize(4);
    changes.push_back({std::move(parts[i]), words[0], words[1], words[3], words[2]});
  }
  return changes;
}

std::vector<RawChange> Diff(const Git& git, const std::string& from, const std::string& to,
                            const Git::Arguments& options, const PatchSink& patch) {
  Git::Arguments arguments = {"diff-tree", "-r", "-z", "--raw", "--no-renames"};
  if (patch) arguments.insert(arguments.end(), {"-p", "--binary"});
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {from, to});
  std::string raw;
  bool is_patch = false;
  const auto add = [&](std::string_view bytes) {
    if (is_patch) return patch(bytes);
    const std::size_t seen = raw.empty() ? 0 : raw.size() - 1;
    raw += bytes;
    // The end of the last record, and one NUL more.
    const std::size_t end = raw.find(std::string_view("\0\0", 2), seen);
    if (end == std::string::npos) return raw.size() <= kMaxOutput;
    is_patch = true;
    const std::string rest = raw.substr(end + 2);
    raw.resize(end + 1);
    return patch(rest);
  };
  // With an index, it would take a file of the current directory for an object of the same stat.
  git.With({{"GIT_INDEX_FILE", "/nonexistent/index"}}).Read(arguments, add, kWhat);
  if (raw.size() > kMaxOutput) SetCut(nullptr);
  return ParseRaw(raw);
}

TreeEntries Tree(const Git& git, const std::string& id, bool* is_cut) {
  TreeEntries entries;
  std::string record;
  const auto add = [&](std::string_view bytes) {
    for (std::size_t end; (end = bytes.find('\0')) != std::string_view::npos; record.clear()) {
      record += bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      // "MODE TYPE ID", spaces, "SIZE" or "-", tab, path
      const std::size_t tab = std::min(record.find('\t'), record.size() - 1);
      const std::vector<std::string> words = Split(std::string_view(record).substr(0, tab), ' ');
      const bool has_size = words.back().find_first_not_of("0123456789") == std::string::npos;
      entries.push_back({record.substr(tab + 1), words.at(0), words.at(2),
                         has_size ? std::stoull(words.back()) : 0});
    }
    record += bytes;
    return entries.size() <= kMaxEntries && record.size() <= kMaxRecord;
  };
  git.Read({"ls-tree", "-r", "-t", "-l", "-z", "--full-tree", id}, add, kWhat);
  if (entries.size() > kMaxEntries || record.size() > kMaxRecord) SetCut(is_cut);
  return entries;
}

std::map<std::string, std::string> Contents(const Git& git, const std::vector<std::string>& ids,
                                            std::uint64_t max_size, bool* is_cut) {
  if (ids.empty()) return {};
  BatchReader reader(max_size);
  const auto read = [&](std::string_view bytes) {
    reader.Add(bytes);
    return reader.kept <= kMaxOutput;
  };
  git.Read({"cat-file", "--batch"}, read, kWhat, support::Join(ids, "\n") + "\n");
  if (reader.kept > kMaxOutput) SetCut(is_cut);
  return std::move(reader.contents);
}

std::vector<std::string> Existing(const Git& git, const std::vector<std::string>& ids) {
  const std::string text = git.Require({"cat-file", "--batch-check=%(objectname) %(objecttype)"},
                                       "git cannot read the repository", support::Join(ids, "\n"));
  std::vector<std::string> found;
  for (const std::string& line : Split(text, '\n')) {
    if (line.ends_with(" commit")) found.push_back(line.substr(0, line.find(' ')));
  }
  return found;
}

}  // namespace git
