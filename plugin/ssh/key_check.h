#pragma once

#include <string>

namespace ssh {

/// Why this private key file is of no use; empty when it is. Never contains anything of the key.
std::string ProblemOfKey(const std::string& file);

}  // namespace ssh
