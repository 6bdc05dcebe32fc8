#include "shell/resident_script.h"

#include <algorithm>

#include "shell/programs.h"
#include "shell/shell_quote.h"
#include "support/random.h"

namespace shell {
namespace {

/// `exec` runs it as the shell would: no assignment, path or quotes. `time` is the reserved word
/// that is also a program.
bool MayBeExecuted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos &&
         word.find_first_of("-+.") != 0 && word != "time";
}

std::string ShellWord(const std::string& shell) {
  return shell.empty() ? "\"$SHELL\"" : ShellQuote(shell);
}

/// `settings` are assignments that `program` needs.
std::string Session(const std::string& marker, const std::string& settings,
                    std::string_view program) {
  std::string text = "{ _lm_marker=" + marker + " " + settings + "\n";
  text.append(program).append(session_program);
  return text + "exit; }\n";
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

std::string CountLines(std::string_view code) {
  return std::to_string(1 + std::count(code.begin(), code.end(), '\n'));
}

}  // namespace

std::string MakeEndMarker() {
  constexpr std::size_t kDigits = 32;
  return "limactl-mcp-" + support::RandomHex(kDigits);
}

std::string ScriptShell(const std::string& marker, Requests requests) {
  return Session(marker,
                 requests == Requests::kOne ? "_lm_left='left '" : "_lm_left=", scripts_program);
}

std::string LoginShell(const std::string& marker, const std::string& shell) {
  return Session(marker,
                 "_lm_shell=" + ShellWord(shell) +
                     " _lm_loop=" + ShellQuote(std::string(command_loop_program)),
                 login_program);
}

std::string ProcessShell(const std::string& marker, const LoginCommand& command) {
  return Session(marker, "_lm_command=" + ShellQuote(PlainLogin(command)), process_program);
}

std::string InputRequest(std::string_view bytes) {
  return "i " + Escape(bytes) + '\n';
}

std::string SignalRequest(std::string_view name) {
  return "k " + std::string(name) + '\n';
}

bool MayBeBash(std::string_view shell) {
  return shell.empty() || shell == "bash" || shell.ends_with("/bash");
}

std::string ScriptRequest(const std::string& script) {
  return CountLines(script) + '\n' + script + '\n';
}

std::string CommandRequest(const LoginCommand& command) {
  const std::string word = MayBeExecuted(command.first_word) ? ' ' + command.first_word : "";
  return CountLines(command.text) + word + '\n' + Escape(command.directory) + '\n' + command.text +
         '\n';
}

std::string PlainLogin(const LoginCommand& command) {
  const std::string enter = "cd " + ShellQuote(command.directory);
  return enter + " 2>/dev/null || exec \"$SHELL\" -c " + ShellQuote(enter + " || exit 1") +
         "\nexec " + ShellWord(command.shell) + " -l -c " + ShellQuote(command.text);
}

}  // namespace shell
