#pragma once

#include <string>

namespace shell {

/// A word that no command and no profile prints by accident: "limactl-mcp-" and 128 random bits in
/// hexadecimal. It marks where output that matters begins or ends.
std::string MakeMark();

}  // namespace shell
