#include "tools/mark.h"

#include "support/random.h"

namespace tools {

std::string MakeMark() {
  constexpr std::size_t kDigits = 32;
  return "limactl-mcp-" + support::RandomHex(kDigits);
}

}  // namespace tools
