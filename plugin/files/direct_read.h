#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "support/context.h"

namespace files {

/// Receives the next bytes of a file; returns false to stop.
using TakeBytes = std::function<bool(std::string_view bytes)>;

/// Reads a file as it is on the host now: `dd` in the guest bypasses the page cache. Linux 6.1
/// needs O_DIRECT (`iflag=direct`) and also `nocache`, which drops the cached pages: if the file is
/// shorter on the host than the size that the guest has cached, a direct read continues in the
/// cache. With both, NUL bytes take the place of the missing end.
///
/// Does not follow a link at `path`. Returns false, before any call of `take`, if the guest has no
/// suitable dd or the file system refuses. Throws support::CallError if reading fails later, and
/// what guest::Guest::RunScript throws.
bool ReadDirectly(const std::string& path, const TakeBytes& take, guest::Guest& guest,
                  const support::Context& context);

}  // namespace files
