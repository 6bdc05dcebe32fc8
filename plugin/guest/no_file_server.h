#pragma once

#include "support/errors.h"

namespace guest {

/// A file operation was not even tried: the guest has no SFTP server, or it cannot be started. The
/// text says why and what to do. Commands may work all the same.
class NoFileServer : public support::CallError {
 public:
  using support::CallError::CallError;
};

}  // namespace guest
