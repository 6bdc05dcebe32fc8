#pragma once

#include <string>
#include <string_view>

namespace ssh {

/// The cipher list for libssh from the value of `Ciphers` in an ssh_config file, without quotes,
/// with the meaning of ssh_config(5): "^a,b" puts a and b first, "+a" appends, "-a" removes
/// (a trailing '*' matches any end), anything else replaces the default. Done here because libssh
/// 0.10 drops the first name after '^' together with the sign. Empty for an empty value: libssh's
/// own default then holds. Names unknown to libssh are left for it to drop. Throws
/// support::CallError where the value leaves no name: libssh would use what it was told not to.
std::string CipherList(std::string_view config_value);

}  // namespace ssh
