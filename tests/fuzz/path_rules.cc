// SPDX-License-Identifier: Apache-2.0
// The path rules over a tree of directories and links: every accepted path lies under a root, with
// links resolved.

#include "paths/path_rules.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/input.h"
#include "support/paths.h"
#include "testing/local_guest.h"

namespace {

using guest::FileErrorCode;
using guest::FileType;

/// Directories, files and links by their paths, resolved as by OpenSSH's server.
class Tree {
 public:
  void Add(const std::string& path, FileType type, std::string target = "") {
    names_.insert_or_assign(path, Name{type, std::move(target)});
    resolved_.clear();
  }

  [[nodiscard]] bool IsLink(const std::string& path) const {
    const auto found = names_.find(path);
    return found != names_.end() && found->second.type == FileType::kSymlink;
  }

  guest::Reply ReplyTo(const guest::Request& request) {
    const std::string& path = request.path;
    switch (request.operation) {
      case guest::Operation::kLStat:
        return {AttributesOf(WithParentResolved(path), path), {}};
      case guest::Operation::kReadLink: {
        const auto found = names_.find(WithParentResolved(path));
        if (found == names_.end() || found->second.type != FileType::kSymlink) Miss(path);
        return {found->second.target, {}};
      }
      case guest::Operation::kRealPath:
        if (const auto resolved = Resolve(path)) return {*resolved, {}};
        Miss(path);
      case guest::Operation::kOpenDirectory:
        if (AttributesOf(Resolve(path).value_or(""), path).type != FileType::kDirectory) Miss(path);
        return {};
      case guest::Operation::kReadDirectory:
        return {std::vector<guest::DirectoryEntry>(), {}};
      case guest::Operation::kClose:
        return {};
      default:
        throw guest::FileError(FileErrorCode::kUnsupported, "look at", path, "");
    }
  }

 private:
  struct Name {
    FileType type;
    std::string target;
  };

  [[noreturn]] static void Miss(const std::string& path) {
    throw guest::FileError(FileErrorCode::kNotFound, "look at", path, "");
  }

  std::string WithParentResolved(const std::string& path) {
    if (path == "/") return path;
    return support::JoinPath(Resolve(support::ParentPath(path)).value_or(""),
                             path.substr(path.find_last_of('/') + 1));
  }

  guest::FileAttributes AttributesOf(const std::string& resolved, const std::string& path) {
    const auto found = names_.find(resolved);
    if (found == names_.end()) Miss(path);
    guest::FileAttributes attributes;
    attributes.type = found->second.type;
    return attributes;
  }

  /// realpath(3), except that the last component may be missing. Nothing if there is a link loop,
  /// or if something above it is missing or not a directory. Cached, because loops repeat paths.
  [[nodiscard]] const std::optional<std::string>& Resolve(const std::string& path) {
    const auto [entry, is_new] = resolved_.try_emplace(path);
    if (is_new) entry->second = Walk(path);
    return entry->second;
  }

  [[nodiscard]] std::optional<std::string> Walk(const std::string& path) const {
    std::string resolved = "/";
    std::string rest = path;
    int links = 0;
    while (true) {
      const std::size_t begin = rest.find_first_not_of('/');
      if (begin == std::string::npos) return resolved;
      const std::size_t end = rest.find('/', begin);
      const std::string name = rest.substr(begin, end - begin);
      rest = end == std::string::npos ? "" : rest.substr(end);
      const auto at = names_.find(resolved);
      if (at == names_.end() || at->second.type != FileType::kDirectory) return std::nullopt;
      if (name == ".") continue;
      if (name == "..") {
        resolved = support::ParentPath(resolved);
        continue;
      }
      const std::string next = support::JoinPath(resolved, name);
      const auto found = names_.find(next);
      if (found != names_.end() && found->second.type == FileType::kSymlink) {
        if (++links > 40) return std::nullopt;
        if (found->second.target.starts_with('/')) resolved = "/";
        rest = found->second.target + rest;
        continue;
      }
      resolved = next;
      if (found == names_.end()) {
        return rest.find_first_not_of('/') == std::string::npos ? std::optional(resolved)
                                                                : std::nullopt;
      }
    }
  }

  std::map<std::string, Name> names_;
  std::map<std::string, std::optional<std::string>> resolved_;
};

constexpr std::array<std::string_view, 20> kWords = {
    "/",  "/",   "/",    "..",  ".",       "host",   "work", "library", "mnt", "w",
    "ro", "sub", "file", "new", "outside", "secret", "l0",   "l1",      "l2",  "\\"};

/// The rules keep no state between paths, so more of them in one run would find nothing new.
constexpr int kMaxPaths = 8;

constexpr std::array kAccesses = {paths::Access::kRead, paths::Access::kWrite,
                                  paths::Access::kList};

constexpr std::size_t kMaxWords = 24;
/// Shorter: forty links that point into each other add up to one path, whose resolution takes the
/// square of its length.
constexpr std::size_t kMaxTargetWords = 6;

/// Mostly words, sometimes raw bytes.
std::string MakePath(fuzz::Input& input, std::size_t most_words) {
  std::string path;
  for (std::size_t words = input.Below(most_words + 1); words > 0; --words) {
    const std::uint8_t choice = input.Byte();
    path += choice < 250 ? kWords.at(choice % kWords.size()) : input.Piece();
  }
  return path;
}

void Fill(Tree& tree, fuzz::Input& input) {
  for (const char* directory :
       {"/", "/mnt", "/mnt/w", "/mnt/w/sub", "/mnt/ro", "/mnt/ro/sub", "/mnt/w/ro", "/outside"}) {
    tree.Add(directory, FileType::kDirectory);
  }
  for (const char* file : {"/mnt/w/file", "/mnt/ro/file", "/outside/secret"}) {
    tree.Add(file, FileType::kRegular);
  }
  constexpr std::array<const char*, 6> kPlaces = {"/mnt/w/l0",  "/mnt/w/l1",      "/mnt/w/sub/l2",
                                                  "/mnt/ro/l0", "/mnt/ro/sub/l1", "/mnt/l2"};
  for (const char* place : kPlaces) {
    std::string target = MakePath(input, kMaxTargetWords);
    if (target.empty() || target.find('\0') != std::string::npos) continue;
    tree.Add(place, FileType::kSymlink, std::move(target));
  }
}

/// No component of it is a link.
bool HasNoLinks(const Tree& tree, std::string path) {
  while (path != "/") {
    if (tree.IsLink(path)) return false;
    path = support::ParentPath(path);
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  Tree tree;
  Fill(tree, input);
  testing_support::LocalGuest guest;
  guest.set_reply(
      [&](const guest::Request& request, const auto&) { return tree.ReplyTo(request); });
  paths::PathRules::Options options;
  options.instance = "default";
  options.roots = {{.host = "/host/work", .guest = "/mnt/w", .writable = true},
                   {.host = "/host/library", .guest = "/mnt/ro", .writable = false},
                   // A read-only mount within a writable one.
                   {.host = "/host/work/ro", .guest = "/mnt/w/ro", .writable = false}};
  const paths::PathRules rules(options);
  for (int paths = 0; paths < kMaxPaths && !input.empty(); ++paths) {
    const paths::Access access = kAccesses.at(input.Below(kAccesses.size()));
    try {
      const paths::ResolvedPath path = rules.Resolve(MakePath(input, kMaxWords), access, guest, {});
      // The innermost root above it.
      const paths::Root* root = nullptr;
      for (const paths::Root& one : options.roots) {
        if (!support::PathBelow(path.guest, one.guest)) continue;
        if (root == nullptr || one.guest.size() > root->guest.size()) root = &one;
      }
      fuzz::Require(root != nullptr, "what is accepted lies under a root");
      fuzz::Require(access != paths::Access::kWrite || root->writable,
                    "what is accepted for writing lies under a writable root");
      fuzz::Require(support::CleanPath(path.guest) == path.guest, "the path is clean");
      fuzz::Require(path.guest.find('\0') == std::string::npos, "the path has no NUL");
      fuzz::Require(HasNoLinks(tree, path.guest), "the path has no links");
      fuzz::Require(path.attributes.has_value() || !path.existing_parent.empty(),
                    "the existing part of the path is known");
      fuzz::Require(!path.directory || path.directory->handle().path == path.guest,
                    "no other directory than the path's is opened");
    } catch (const support::Error& refused) {
      fuzz::Require(refused.what()[0] != '\0', "a refusal says why");
    }
    fuzz::Require(guest.open_handles() == 0, "what is not used is closed");
  }
  return 0;
}
