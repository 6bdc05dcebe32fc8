// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What makes this build slower than what users run. The sanitizers: GCC has macros, older clang
/// has features.
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

#ifdef __OPTIMIZE__
inline constexpr bool kOptimised = true;
#else
inline constexpr bool kOptimised = false;
#endif

inline constexpr bool kSlowBuild = kAddressSanitizer || kThreadSanitizer || !kOptimised;

}  // namespace testing_support
