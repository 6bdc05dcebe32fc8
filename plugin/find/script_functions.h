#pragma once

#include <string_view>

namespace find {

/// What the scripts of ListTrees and SearchContent call: programs/.
std::string_view ScriptFunctions();

}  // namespace find
