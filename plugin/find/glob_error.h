#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace find {

/// Throws support::CallError: `Bad pattern "…" at character N: fault.` `offset` counts bytes from
/// 0, the text counts characters from 1.
[[noreturn]] void ThrowGlobError(std::string_view pattern, std::size_t offset,
                                 const std::string& fault);

}  // namespace find
