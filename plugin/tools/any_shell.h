#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Command lines that every login shell reads alike. sshd gives a command line to the guest user's
/// login shell, which may be any: of the Bourne family, fish, csh. All they have in common is that
/// a word in single quotes means itself, as long as it holds no single quote, no "!" (csh), no line
/// end (csh), and no backslash before a backslash or a quote (fish).
namespace tools {

/// A word in the form that a script of AnyShellLine decodes.
class AnyShellWord {
 public:
  /// `word` must be free of NUL.
  explicit AnyShellWord(std::string_view word);

  /// One that comes on the script's standard input: the next `length` bytes there.
  static AnyShellWord OnStandardInput(std::size_t length);

  /// Free of what the shells read differently.
  [[nodiscard]] const std::string& encoded() const { return encoded_; }

 private:
  AnyShellWord() = default;
  std::string encoded_;
};

/// `exec /bin/sh -c SCRIPT sh WORDS…`. The login shell is gone before the script begins, and with
/// it what its start-up files may have set: options, traps, aliases, functions. The positional
/// parameters of the script are the encoded words, see kWordDecoder. Throws std::logic_error for a
/// script that not every shell reads alike: scripts are ours.
std::string AnyShellLine(std::string_view script, const std::vector<AnyShellWord>& words);

/// For the beginning of a script: a function that leaves its argument, decoded, in the variable
/// $limactl_mcp_word.
inline constexpr std::string_view kWordDecoder =
    "limactl_mcp_word() { case $1 in"
    " =*) limactl_mcp_word=${1#?} ;;"
    " %*) limactl_mcp_word=$(printf %b \"${1#?}.\"); limactl_mcp_word=${limactl_mcp_word%.} ;;"
    " *) limactl_mcp_word=$(head -c \"${1#?}\"; echo .); limactl_mcp_word=${limactl_mcp_word%.} ;;"
    " esac; }; ";

}  // namespace tools
