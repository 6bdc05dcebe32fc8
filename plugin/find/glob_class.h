#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace find {

/// Reads the `[…]` of a glob pattern that begins at `at`, moves `at` behind it, and returns it as a
/// regular expression in RE2's syntax that never matches '/'. Throws support::CallError with the
/// position when it does not end before the next '/', or holds a range that runs backwards or an
/// unknown `[:class:]`. Names of POSIX classes mean their ASCII characters.
std::string ParseGlobClass(std::string_view pattern, std::size_t& at);

}  // namespace find
