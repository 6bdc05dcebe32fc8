#include "support/version.h"

namespace support {

std::string_view Version() {
  return LIMACTL_MCP_VERSION;
}

}  // namespace support
