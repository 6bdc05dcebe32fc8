#pragma once

#include <string>

#include "support/errors.h"

namespace guest {

/// What went wrong with a file in the guest, as far as the guest told.
enum class FileErrorCode {
  kNotFound,          ///< no such file or directory
  kPermissionDenied,  ///< the guest user may not
  kAlreadyExists,     ///< an exclusive create met an existing name
  kUnsupported,       ///< the guest's server does not offer the operation
  kFailure,           ///< anything else; SFTP version 3 says no more
};

/// A file operation failed in the guest and nothing else is wrong with the connection.
class FileError : public support::CallError {
 public:
  /// `path` is the guest path; `detail` is the guest's own words and may be empty.
  FileError(FileErrorCode code, const std::string& operation, const std::string& path,
            const std::string& detail);

  [[nodiscard]] FileErrorCode code() const { return code_; }

  /// The guest's own words; may be empty.
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  FileErrorCode code_;
  std::string detail_;
};

}  // namespace guest
