#pragma once

#include <string>
#include <string_view>

/// Regular expressions for lines, in Perl's syntax or POSIX's extended one.
namespace find {

/// Whether the expression needs a line break to match, so that no line can: `a\nb`, `\R`. What only
/// excludes or allows one is fine: `[^\n]`, `\n?`.
bool NeedsLineBreak(std::string_view expression);

/// The same, but `$` also matches before a CR at a line's end, and `^` after a byte order mark at
/// its beginning.
std::string WithLineEnds(std::string_view expression, bool is_perl);

}  // namespace find
