#pragma once

namespace testing_support {

/// False where names must be UTF-8, and names that differ only in case are one name: macOS.
#ifdef __APPLE__
inline constexpr bool kNamesAreBytes = false;
#else
inline constexpr bool kNamesAreBytes = true;
#endif

}  // namespace testing_support
