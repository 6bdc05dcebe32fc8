#include "files/file_problem.h"

#include <array>
#include <cstddef>

#include "support/units.h"

namespace files {
namespace {

using guest::FileErrorCode;

std::string DescribeFailure(const guest::FileError& error, const paths::ResolvedPath& path,
                            std::uint64_t needed_bytes, guest::Guest& guest,
                            const support::Context& context) {
  const std::string& existing = path.existing_parent.empty() ? path.guest : path.existing_parent;
  try {
    guest::Reply reply = guest.Execute(guest::Request::StatFileSystem(existing), context);
    const auto& status = reply.As<guest::FileSystemStatus>();
    if (status.read_only) return "the file system is mounted read-only in the guest";
    if (status.free_bytes < needed_bytes) {
      return "no space left on the guest's file system: " +
             support::FormatByteCount(status.free_bytes) + " free, " +
             support::FormatByteCount(needed_bytes) + " needed";
    }
  } catch (const support::CallError&) {
    // Not supported, or the connection was lost. Report the first failure in either case:
    // ConnectionLost would retry the call.
  }
  return error.detail().empty() ? "the guest reports a failure without a reason" : error.detail();
}

/// "PATH is a FIFO, not a "
std::string DescribeMismatch(const paths::ResolvedPath& path) {
  constexpr std::array<const char*, 8> kNames = {
      "regular file", "directory",        "symbolic link", "FIFO",
      "socket",       "character device", "block device",  "file of unknown type"};
  return path.host + " is a " + kNames.at(static_cast<std::size_t>(path.attributes->type)) +
         ", not a ";
}

}  // namespace

void RequireRegularFile(const paths::ResolvedPath& path) {
  if (!path.attributes) throw PathlessError("file does not exist");
  if (path.attributes->type == guest::FileType::kRegular) return;
  std::string text = DescribeMismatch(path) + "regular file";
  if (path.attributes->type == guest::FileType::kDirectory) {
    text += "; list_directory shows what is in it";
  }
  throw support::CallError(text);
}

void RequireDirectory(const paths::ResolvedPath& path) {
  if (!path.attributes) {
    throw support::CallError(path.host + " does not exist; list the directory above it");
  }
  if (path.attributes->type == guest::FileType::kDirectory) return;
  throw support::CallError(DescribeMismatch(path) + "directory; give the directory that it is in");
}

void ThrowFileProblem(const guest::FileError& error, const std::string& action,
                      const paths::ResolvedPath& path, std::uint64_t needed_bytes,
                      guest::Guest& guest, const support::Context& context) {
  const std::string failed = action + " " + path.host + ": ";
  switch (error.code()) {
    case FileErrorCode::kNotFound:
      throw PathlessError("file does not exist");
    case FileErrorCode::kPermissionDenied:
      throw PathlessError("permission denied");
    case FileErrorCode::kUnsupported:
      throw support::CallError(failed + "the guest's SFTP server does not support this");
    case FileErrorCode::kFailure:
      break;
  }
  if (path.guest.empty()) throw support::CallError(error.what());  // not resolved
  throw support::CallError(failed + DescribeFailure(error, path, needed_bytes, guest, context));
}

}  // namespace files
