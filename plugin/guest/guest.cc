#include "guest/guest.h"

#include <utility>

namespace guest {

FileType FileTypeOf(std::uint32_t mode) {
  constexpr std::uint32_t kTypeMask = 0170000;
  switch (mode & kTypeMask) {
    case 0100000U:
      return FileType::kRegular;
    case 0040000U:
      return FileType::kDirectory;
    case 0120000U:
      return FileType::kSymlink;
    case 0010000U:
      return FileType::kFifo;
    case 0140000U:
      return FileType::kSocket;
    case 0020000U:
      return FileType::kCharacterDevice;
    case 0060000U:
      return FileType::kBlockDevice;
    default:
      return FileType::kUnknown;
  }
}

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

bool IsItself(const RealFile& file, std::string_view path, FileType type) {
  return file.path == path && file.attributes && file.attributes->type == type;
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

FoundDirectory Guest::FindAndList(const std::string& path, const support::Context& context) {
  FoundDirectory found{FindRealFile(path, context), std::nullopt};
  if (!IsItself(found.file, path, FileType::kDirectory)) return found;
  try {
    found.entries = List(path, context);
  } catch (const FileError&) {
    // Whoever asks for the entries hears why.
  }
  return found;
}

FoundFile Guest::FindAndRead(const std::string& path, std::uint64_t most_bytes,
                             const support::Context& context) {
  FoundFile found{FindRealFile(path, context), std::nullopt};
  if (!IsItself(found.file, path, FileType::kRegular)) return found;
  const std::uint64_t size = found.file.attributes->size;
  if (size >= most_bytes) return found;
  try {
    found.beginning = Open(path, OpenMode::kRead, 0, context)
                          ->StatAndRead(static_cast<std::size_t>(size) + 1, context);
  } catch (const FileError&) {
    // Whoever opens it hears why.
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
