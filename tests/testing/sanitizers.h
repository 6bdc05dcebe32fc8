#pragma once

/// The sanitizers of this build: GCC has macros, older clang has features.
namespace testing_support {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif !defined(__has_feature)
inline constexpr bool kAddressSanitizer = false;
#elif __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif !defined(__has_feature)
inline constexpr bool kThreadSanitizer = false;
#elif __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace testing_support
