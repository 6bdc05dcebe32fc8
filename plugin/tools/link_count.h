#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "guest/guest.h"
#include "support/context.h"

namespace tools {

/// A directory of this size (of the directory itself, as stat tells it) or more holds ten thousand
/// names or so: listing it then costs more than a command in the guest, which starts several
/// processes there (measured on a loopback sshd: 7 µs a name, 60 ms and more a command).
inline constexpr std::uint64_t kLargeDirectoryBytes = std::uint64_t{512} << 10;

/// How many hard links a file has; empty when nobody can tell, above all since it has gone. `path`
/// must be resolved. SFTP has no field for it, but OpenSSH's server writes it into the listing of
/// the directory: what guest::Guest::ListSmall takes. A large one costs one command more. On
/// reverse-sshfs it is always one: sshfs has it by SFTP itself, and makes it up.
std::optional<std::uint32_t> CountLinks(const std::string& path, guest::Guest& guest,
                                        const support::Context& context);

}  // namespace tools
