#include "tools/temporary_name.h"

#include <cstddef>

#include "support/random.h"

namespace tools {
namespace {

constexpr std::string_view kHexadecimal = "0123456789abcdef";
constexpr std::string_view kDecimal = "0123456789";
constexpr std::size_t kTokenLength = 16;

bool HoldsOnly(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

}  // namespace

std::string RandomToken() {
  return support::RandomHex(kTokenLength);
}

bool IsTemporaryName(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix)) return false;
  name.remove_prefix(kTemporaryPrefix.size());
  if (name.size() < kTokenLength || !HoldsOnly(name.substr(0, kTokenLength), kHexadecimal)) {
    return false;
  }
  name.remove_prefix(kTokenLength);
  return name.empty() ||
         (name.size() > 1 && name.front() == '-' && HoldsOnly(name.substr(1), kDecimal));
}

}  // namespace tools
