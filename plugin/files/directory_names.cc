#include "files/directory_names.h"

#include <optional>

#include "support/errors.h"

namespace files {

std::vector<guest::DirectoryEntry> NamesIn(const paths::ResolvedPath& directory,
                                           guest::Guest& guest, const support::Context& context) {
  if (directory.directory) return guest::ReadNames(*directory.directory, context);
  // Looked at once more with opening it: a link may have been put there since.
  std::vector<guest::Reply> replies = guest.AskAll(
      {guest::ask::RealPath{directory.guest}, guest::ask::OpenDirectory{directory.guest}}, context);
  std::optional<guest::OpenHandle> opened;
  if (!replies[1].failure) opened.emplace(guest, replies[1].As<guest::Handle>());
  if (replies[0].As<std::string>() != directory.guest) {
    throw support::CallError(directory.host +
                             " was replaced while it was being looked at; try again");
  }
  replies[1].RequireSuccess();
  return guest::ReadNames(*opened, context);
}

}  // namespace files
