#pragma once

#include <cstddef>
#include <string>

/// Text for tables on a terminal.
namespace bench {

/// With as many digits as are worth reading: "3.14", "31.4", "314".
std::string Number(double value);

/// Padded to `width` places, which are code points here; longer text stays as it is.
std::string Left(const std::string& text, std::size_t width);
std::string Right(const std::string& text, std::size_t width);

}  // namespace bench
