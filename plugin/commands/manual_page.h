#pragma once

#include <string>

namespace commands {

/// limactl-mcp(1), as man(7) source, made of the same definitions as the help.
std::string ManualPage();

}  // namespace commands
