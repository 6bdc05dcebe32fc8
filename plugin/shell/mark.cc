#include "shell/mark.h"

#include "support/random.h"

namespace shell {

std::string MakeMark() {
  constexpr std::size_t kDigits = 32;
  return "limactl-mcp-" + support::RandomHex(kDigits);
}

}  // namespace shell
