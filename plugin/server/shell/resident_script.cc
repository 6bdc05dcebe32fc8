// SPDX-License-Identifier: Apache-2.0
#include "shell/resident_script.h"

#include <algorithm>

#include "shell/programs.h"
#include "shell/shell_quote.h"
#include "support/format.h"
#include "support/random.h"
#include "support/regex.h"

namespace shell {
namespace {

/// A longer line is no report.
constexpr std::size_t kMaxReport = 512;

/// How many of the last bytes may be the beginning of `marker`.
std::size_t PossibleBeginning(std::string_view bytes, std::string_view marker) {
  std::size_t length = std::min(bytes.size(), marker.size() - 1);
  while (!bytes.ends_with(marker.substr(0, length))) --length;
  return length;
}

/// `exec` runs it as the shell would: no assignment, path or quotes. `time` is the reserved word
/// that is also a program.
bool MayBeExecuted(std::string_view word) {
  static const support::Regex plain(R"(\w[\w.+-]*)");
  return plain.FullMatch(word) && word != "time";
}

/// One line that printf's %b turns into the bytes.
std::string Escape(std::string_view bytes) {
  std::string line;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    if (value >= 0x20 && value < 0x7F && byte != '\\') {
      line += byte;
      continue;
    }
    line += "\\0";
    for (const unsigned shift : {6U, 3U, 0U})
      line += static_cast<char>('0' + (value >> shift & 7U));
  }
  return line;
}

/// One line that printf's %b of bash turns into the text.
std::string OneLine(std::string text) {
  support::Regex(R"(\\)").ReplaceAll(text, R"(\\\\)");
  support::Regex("\n").ReplaceAll(text, R"(\\n)");
  return text;
}

}  // namespace

std::string MakeEndMarker() {
  constexpr std::size_t kDigits = 32;
  return "limactl-mcp-" + support::RandomHex(kDigits);
}

std::string Bootstrap(const std::string& marker, const std::string& program) {
  return "{ _lm_marker=" + marker + "\n" + program + std::string(session_program) + "exit; }\n";
}

std::string ScriptProgram(bool for_one) {
  return std::string(for_one ? "_lm_next=left\n" : "_lm_next=free\n").append(scripts_program);
}

std::string LoginProgram(const std::string& shell) {
  return ("_lm_shell=" + ShellWord(shell) +
          "\n_lm_loop=" + ShellQuote(std::string(command_loop_program)) + '\n')
      .append(login_program);
}

std::string ProcessProgram(const LoginCommand& command) {
  return ("_lm_command=" + ShellQuote(PlainLogin(command)) + '\n').append(process_program);
}

std::string InputRequest(std::string_view bytes) {
  return "i " + Escape(bytes) + '\n';
}

std::string SignalRequest(std::string_view name) {
  return "k " + std::string(name) + '\n';
}

std::string ShellWord(const std::string& shell) {
  return shell.empty() ? "\"$SHELL\"" : ShellQuote(shell);
}

bool MayBeBash(std::string_view shell) {
  return shell.empty() || shell == "bash" || shell.ends_with("/bash");
}

ShellRequest ScriptRequest(const Script& script) {
  const auto line = [](std::string_view word, std::string_view code) {
    std::string quoted = ShellQuote(code);
    support::Regex("\n").ReplaceAll(quoted, "'$_lm_n'");
    return std::string(word).append(" ").append(quoted).append("\n");
  };
  return {line("run", script.text),
          script.functions.empty() ? "" : line("define", script.functions)};
}

ShellRequest CommandRequest(const LoginCommand& command) {
  const std::string word = MayBeExecuted(command.first_word) ? command.first_word : "";
  return {"\n" + word + "\n" + OneLine(command.text) + "\n", OneLine(command.directory)};
}

std::string PlainLogin(const LoginCommand& command) {
  const std::string directory = ShellQuote(command.directory);
  std::string stays = "test";
  for (std::string part = command.directory; !part.empty(); part.erase(part.rfind('/')))
    stays += " ! -L " + ShellQuote(part) + " -a";
  stays += " . -ef " + directory;
  return ("_lm_enter=" + ShellQuote("cd " + directory) + "\n_lm_stays=" + ShellQuote(stays) +
          "\n_lm_shell=" + ShellWord(command.shell) + "\n_lm_text=" + ShellQuote(command.text) +
          '\n')
      .append(plain_login_program);
}

std::string DescribeProfileFailure(const std::string& shell, std::string_view what) {
  const auto ends_with = [&](const char* name) { return shell.ends_with(name); };
  const std::string files = MayBeBash(shell)    ? "~/.bash_profile, ~/.bash_login, ~/.profile"
                            : ends_with("zsh")  ? "~/.zshenv, ~/.zprofile, ~/.zlogin"
                            : ends_with("fish") ? "~/.config/fish/config.fish"
                            : ends_with("csh")  ? "~/.tcshrc, ~/.cshrc, ~/.login"
                                                : "~/.profile";
  return support::Format(
      "the guest user's login shell {} in its startup files: "
      "check {} and /etc/profile in the guest",
      what, files);
}

void ReportSplitter::Feed(std::string_view bytes, const Callback& on_output,
                          const Callback& on_report) {
  if (held_.empty()) {
    held_ = Split(bytes, on_output, on_report);
    return;
  }
  const std::string joined = std::exchange(held_, {}).append(bytes);
  held_ = Split(joined, on_output, on_report);
}

std::string_view ReportSplitter::Split(std::string_view bytes, const Callback& on_output,
                                       const Callback& on_report) {
  while (true) {
    const std::size_t at = bytes.find(marker_);
    if (at == std::string_view::npos) {
      const std::size_t own = bytes.size() - PossibleBeginning(bytes, marker_);
      if (own > 0) on_output(bytes.substr(0, own));
      return bytes.substr(own);
    }
    if (at > 0) on_output(bytes.substr(0, at));
    bytes.remove_prefix(at);
    const std::size_t end = bytes.substr(0, marker_.size() + kMaxReport).find('\n');
    if (end != std::string_view::npos) {
      std::string_view words = bytes.substr(marker_.size(), end - marker_.size());
      if (words.starts_with(' ')) words.remove_prefix(1);
      on_report(words);
      bytes.remove_prefix(end + 1);
    } else if (bytes.size() >= marker_.size() + kMaxReport) {
      bytes.remove_prefix(marker_.size());
    } else {
      return bytes;
    }
  }
}

void ReportSplitter::Finish(const Callback& on_output) {
  if (!held_.empty()) on_output(held_);
  held_.clear();
}

}  // namespace shell
