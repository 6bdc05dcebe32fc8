#include "guest/file_error.h"

#include <string_view>

namespace guest {
namespace {

std::string_view Describe(FileErrorCode code) {
  switch (code) {
    case FileErrorCode::kNotFound:
      return "no such file or directory";
    case FileErrorCode::kPermissionDenied:
      return "permission denied";
    case FileErrorCode::kAlreadyExists:
      return "file exists";
    case FileErrorCode::kUnsupported:
      return "operation not supported by the guest's SFTP server";
    case FileErrorCode::kFailure:
      return "failure";
  }
  return "failure";
}

std::string Text(FileErrorCode code, const std::string& operation, const std::string& path,
                 const std::string& detail) {
  std::string text = operation + " " + path + ": " + std::string(Describe(code));
  if (!detail.empty()) text += " (" + detail + ")";
  return text;
}

}  // namespace

FileError::FileError(FileErrorCode code, const std::string& operation, const std::string& path,
                     const std::string& detail)
    : CallError(Text(code, operation, path, detail)), code_(code), detail_(detail) {}

}  // namespace guest
