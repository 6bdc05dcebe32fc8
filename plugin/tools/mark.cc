#include "tools/mark.h"

#include <array>
#include <cstdio>
#include <random>

namespace tools {

std::string MakeMark() {
  std::random_device random;
  std::array<char, 48> text{};
  const int length = std::snprintf(text.data(), text.size(), "limactl-mcp-%08x%08x%08x%08x",
                                   random(), random(), random(), random());
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace tools
