#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "support/errors.h"

namespace guest {
namespace {

/// A server that never stops sending names is not believed.
constexpr std::size_t kMaximumEntries = 1'000'000;
/// Of all names together, in bytes: an entry can be as long as a packet.
constexpr std::size_t kMaximumNameBytes = std::size_t{64} << 20;

/// Requests at once: a directory of a hundred names and its end come with the first two. A long one
/// is asked for more, since each round trip brings a hundred names only.
constexpr std::size_t kFirstAtOnce = 2;
constexpr std::size_t kMostRequestsAtOnce = 16;

bool CanExist(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

/// All names of one directory, as they come.
class Names {
 public:
  explicit Names(const std::string& path) : path_(path) {}

  void Take(std::vector<DirectoryEntry>& some) {
    seen_any_ = true;
    for (DirectoryEntry& entry : some) {
      if (entry.name == "." || entry.name == "..") continue;
      if (!CanExist(entry.name)) {
        throw FileError(FileErrorCode::kFailure, "list", path_,
                        "the guest's SFTP server sent a file name that cannot exist");
      }
      bytes_ += entry.name.size();
      entries_.push_back(std::move(entry));
    }
    if (entries_.size() > kMaximumEntries || bytes_ > kMaximumNameBytes) {
      throw support::CallError(
          "list " + path_ + ": more than " + std::to_string(kMaximumEntries) + " entries, or " +
          std::to_string(kMaximumNameBytes >> 20U) +
          " MiB of names; list it in parts with a command in the guest, such as find");
    }
  }

  [[nodiscard]] bool seen_any() const { return seen_any_; }
  std::vector<DirectoryEntry> entries() && { return std::move(entries_); }

 private:
  const std::string& path_;
  std::vector<DirectoryEntry> entries_;
  std::size_t bytes_ = 0;
  bool seen_any_ = false;
};

}  // namespace

std::vector<DirectoryEntry> ReadNames(const OpenHandle& directory,
                                      const support::Context& context) {
  Names names(directory->path);
  std::size_t at_once = kFirstAtOnce;
  bool ended = false;
  while (!ended) {
    const std::vector<Request> requests(at_once, ask::ReadDirectory{*directory});
    for (Reply& reply : directory.guest().AskAll(requests, context)) {
      auto& some = reply.As<std::vector<DirectoryEntry>>();
      ended = some.empty();
      if (ended) break;  // what comes behind it says nothing
      names.Take(some);
    }
    at_once = std::min(2 * at_once, kMostRequestsAtOnce);
  }
  // OpenSSH's server leaves out what it is not permitted to look at: everything, "." too, in a
  // directory that may be read but not entered. That is not empty.
  if (!names.seen_any()) {
    try {
      directory.guest().LStat(directory->path + "/.", context);
    } catch (const FileError& error) {
      if (error.code() == FileErrorCode::kPermissionDenied) {
        throw FileError(FileErrorCode::kPermissionDenied, "list", directory->path, "");
      }
    }
  }
  return std::move(names).entries();
}

}  // namespace guest
