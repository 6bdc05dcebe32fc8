#include "tools/mark.h"

#include <array>
#include <cstdio>

#include "support/random.h"

namespace tools {

std::string MakeMark() {
  support::RandomBits random;
  std::array<char, 48> text{};
  const int length = std::snprintf(text.data(), text.size(), "limactl-mcp-%08x%08x%08x%08x",
                                   random(), random(), random(), random());
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace tools
