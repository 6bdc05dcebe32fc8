#include "guest/guest.h"

#include <utility>

namespace guest {

FileBeginning OpenFile::StatAndRead(std::size_t length, const support::Context& context) {
  FileBeginning beginning;
  beginning.attributes = Stat(context);
  beginning.bytes = Read(0, length, context);
  return beginning;
}

void OpenFile::WriteAndClose(std::string_view bytes, const support::Context& context) {
  Write(0, bytes, context);
  Sync(context);  // false: the server has none, and then nobody can do better
  Close(context);
}

RealFile Guest::FindRealFile(const std::string& path, const support::Context& context) {
  RealFile found;
  found.path = RealPath(path, context);
  try {
    found.attributes = LStat(found.path, context);
  } catch (const FileError& error) {
    if (error.code() != FileErrorCode::kNotFound) throw;
  }
  return found;
}

std::optional<std::vector<DirectoryEntry>> Guest::ListSmall(const std::string& path,
                                                            std::uint64_t directory_bytes,
                                                            const support::Context& context) {
  if (Stat(path, context).size >= directory_bytes) return std::nullopt;
  return List(path, context);
}

}  // namespace guest
