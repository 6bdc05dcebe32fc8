#pragma once

#include <string>

#include "support/errors.h"

namespace guest {

enum class FileErrorCode {
  kNotFound,          ///< no such file or directory
  kPermissionDenied,  ///< the guest user may not
  kAlreadyExists,     ///< the name of a new file is taken
  kUnsupported,       ///< the SFTP server does not offer the operation
  kFailure,           ///< anything else; SFTP version 3 has no more codes
};

/// A file operation failed in the guest; the connection is fine.
class FileError : public support::CallError {
 public:
  /// `path` is the guest path; `detail` is the guest's text and may be empty.
  FileError(FileErrorCode code, const std::string& operation, const std::string& path,
            const std::string& detail);

  [[nodiscard]] FileErrorCode code() const { return code_; }

  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  FileErrorCode code_;
  std::string detail_;
};

}  // namespace guest
