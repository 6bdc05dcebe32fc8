#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// Text as programs are made of: lines with quotes and tabs.
std::string SampleText(std::size_t bytes);

}  // namespace bench
