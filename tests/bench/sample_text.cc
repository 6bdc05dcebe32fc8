#include "bench/sample_text.h"

namespace bench {

std::string SampleText(std::size_t bytes) {
  const std::string line = "\tint function_number(const char* name) { return name == \"x\"; }\n";
  std::string text;
  text.reserve(bytes + line.size());
  while (text.size() < bytes) text += line;
  text.resize(bytes);
  return text;
}

}  // namespace bench
