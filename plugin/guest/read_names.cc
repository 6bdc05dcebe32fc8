#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "support/errors.h"

namespace guest {
namespace {

constexpr std::string_view kInvalid("/\0", 2);  ///< in a name

constexpr std::size_t kMaxEntries = 1'000'000;
constexpr std::size_t kMaxNameBytes = std::size_t{64} << 20;  ///< of all names

/// READDIR requests in one round trip; doubled each time. sshd sends 100 names per reply, so two
/// return a short directory and its end marker.
constexpr std::size_t kFirstAtOnce = 2;
constexpr std::size_t kMaxAtOnce = 16;

}  // namespace

std::vector<DirectoryEntry> ReadNames(const OpenHandle& directory,
                                      const support::Context& context) {
  const std::string& path = directory->path;
  std::vector<DirectoryEntry> entries;
  std::size_t bytes = 0;
  bool any = false;
  std::size_t at_once = kFirstAtOnce;
  for (bool ended = false; !ended; at_once = std::min(2 * at_once, kMaxAtOnce)) {
    const std::vector<Request> requests(at_once, Request::ReadDirectory(*directory));
    for (Reply& reply : directory.guest().RoundTrip(requests, context)) {
      auto& some = reply.As<std::vector<DirectoryEntry>>();
      ended = some.empty();
      if (ended) break;
      any = true;
      for (DirectoryEntry& entry : some) {
        if (entry.name == "." || entry.name == "..") continue;
        if (entry.name.empty() || entry.name.find_first_of(kInvalid) != std::string::npos) {
          throw FileError(FileErrorCode::kFailure, "list", path,
                          "the guest's SFTP server sent an invalid file name");
        }
        bytes += entry.name.size();
        entries.push_back(std::move(entry));
        if (entries.size() > kMaxEntries || bytes > kMaxNameBytes) {
          throw support::CallError("list " + path + ": more than " + std::to_string(kMaxEntries) +
                                   " entries, or " + std::to_string(kMaxNameBytes >> 20U) +
                                   " MiB of names; list it in parts with a command in the guest");
        }
      }
    }
  }
  if (any) return entries;
  // OpenSSH's server omits names that it cannot stat. If the user may read a directory but not
  // enter it, that is all of them, even ".".
  try {
    directory.guest().LStat(path + "/.", context);
  } catch (const FileError& error) {
    if (error.code() == FileErrorCode::kPermissionDenied) {
      throw FileError(FileErrorCode::kPermissionDenied, "list", path, "");
    }
  }
  return entries;
}

}  // namespace guest
