#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "support/context.h"

namespace files {

/// Takes the next bytes of a file; false if no more are wanted.
using TakeBytes = std::function<bool(std::string_view bytes)>;

/// Reads a file as the host has it now, past the guest's page cache, by `dd` in the guest. Linux
/// 6.1 needs both O_DIRECT (`iflag=direct`) and the cached pages dropped before (`nocache`): where
/// the file ends on the host before the size that the guest remembers, a direct read goes on in the
/// cache. A file that became shorter on the host ends with NUL bytes instead.
///
/// A link at `path` is not followed. Returns false, before any byte was taken, if the guest cannot:
/// dd or its flags are missing, or the file system refuses. Throws support::CallError if reading
/// fails later, and what guest::Guest::RunScript throws.
bool ReadDirectly(const std::string& path, const TakeBytes& take, guest::Guest& guest,
                  const support::Context& context);

}  // namespace files
