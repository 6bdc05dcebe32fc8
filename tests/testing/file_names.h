#pragma once

namespace testing_support {

/// False on macOS: names must be UTF-8, and case is ignored.
#ifdef __APPLE__
inline constexpr bool kNamesAreBytes = false;
#else
inline constexpr bool kNamesAreBytes = true;
#endif

}  // namespace testing_support
