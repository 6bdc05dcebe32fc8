#include "support/date.h"

#include <array>
#include <ctime>
#include <string>

namespace support {

std::string FormatDate(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(time - whole).count();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm utc = {};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 64> text = {};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  const std::string digits = std::to_string(milliseconds);
  constexpr std::size_t kDigits = 3;
  return std::string(text.data(), length) + '.' + std::string(kDigits - digits.size(), '0') +
         digits + 'Z';
}

}  // namespace support
