// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libssh/libssh.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ssh/connection.h"

namespace ssh {

struct FreeKey {
  void operator()(ssh_key key) const noexcept { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

/// Most bytes of a known_hosts file; Lima's has less than one thousand.
inline constexpr std::size_t kMaxKnownHosts = std::size_t{1024} * 1024;

/// The host keys that are recorded for an endpoint, as its HostKeyRules say. Make it for each
/// connection: Lima writes new ones at each start. Not libssh's own check, which knows no
/// HostKeyAlias.
class RecordedHostKeys {
 public:
  /// Reads the files; a missing one is empty. Throws support::Error if one cannot be read or
  /// obeyed, and if a key must be recorded but is not. `endpoint` must outlive this.
  explicit RecordedHostKeys(const Endpoint& endpoint);

  [[nodiscard]] bool empty() const { return keys_.empty(); }

  /// The algorithms to request, so that sshd uses a key of a recorded type: a value for
  /// SSH_OPTIONS_HOSTKEYS.
  [[nodiscard]] std::string Algorithms() const;

  /// Throws unless the server has a recorded key, or none is recorded. Call it before
  /// authentication: support::Error, or support::ConnectionLost if the files have changed
  /// meanwhile.
  void Check(ssh_session session) const;

  /// Does the same once ssh_connect has failed with this error, if the reason is that sshd has no
  /// key of a recorded type.
  void CheckFailure(const std::string& error) const;

 private:
  struct Recorded {
    Key key;
    std::string file;
  };

  void ReadLine(std::string line, const std::string& file);
  /// Refuses the server, because its key is `shown` and not `recorded`.
  [[noreturn]] void Refuse(const std::string& shown, const Recorded& recorded) const;

  const Endpoint& endpoint_;
  std::vector<std::string> texts_;  ///< of the files
  std::vector<Recorded> keys_;
};

}  // namespace ssh
