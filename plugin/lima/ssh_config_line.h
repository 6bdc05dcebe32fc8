#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lima {

/// One line of an ssh_config(5) file.
struct SshConfigLine {
  std::string keyword;                 ///< in lower case; empty for an empty line or a comment
  std::vector<std::string> arguments;  ///< without quotes
};

/// Splits `Keyword value…`, `Keyword=value` and `Keyword = value`. Arguments stand in double or
/// single quotes or none; in and outside quotes a backslash protects a quote or a backslash, and
/// outside also a space; a '#' where an argument would begin starts a comment. Throws
/// ConfigurationError for a quote without end. Rule: OpenSSH's readconf.c and argv_split in misc.c.
SshConfigLine SplitSshConfigLine(std::string_view line);

}  // namespace lima
