#include "commands/completions.h"
#include "support/join.h"

namespace commands {
namespace {

constexpr std::string_view kHead =
    R"fish(# fish completion for limactl-mcp and, once this file has been read, for `limactl mcp`.
# Written by `limactl-mcp generate-doc --completions`.

function __limactl_mcp_instances
    set -l home $LIMA_HOME
    test -n "$home"; or set home $HOME/.lima
    for file in $home/*/lima.yaml
        string replace -r '.*/([^/]*)/lima\.yaml$' '$1' -- $file
    end
end

# The words behind the program, without the one that is being typed. Fails where they are none of
# ours.
function __limactl_mcp_words
    set -l words (commandline -opc)
    set -l program (string replace -r '.*/' '' -- $words[1])
    set -e words[1]
    if test "$program" = limactl
        while string match -q -- '-*' $words[1]
            contains -- $words[1] --log-level --log-format; and set -e words[1]
            set -e words[1]
        end
        test "$words[1]" = mcp; or return 1
        set -e words[1]
    end
    string join \n -- $words
    return 0
end

# Arguments: the command ('' for none yet) and, if it matters, which of its positional arguments is
# being typed.
function __limactl_mcp_at
    set -l words (__limactl_mcp_words); or return 1
    while string match -q -- '-*' $words[1]
        set -e words[1]
    end
    test "$words[1]" = "$argv[1]"; or return 1
    set -q argv[2]; or return 0
    set -e words[1]
    set -l position 1
    while set -q words[1]
        if contains -- "$argv[1] $words[1]" $__limactl_mcp_with_value
            set -e words[1]
        else if not string match -q -- '-*' $words[1]
            set position (math $position + 1)
        end
        set -e words[1]
    end
    test $position = $argv[2]
end

)fish";

constexpr std::string_view kLoop = R"fish(
# limactl's own completion removes what others have added before it: have it read first.
if type -q limactl
    complete --do-complete 'limactl ' >/dev/null 2>&1
end

for program in limactl-mcp limactl
)fish";

/// `text` as one word of fish.
std::string FishWord(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') word += '\\';
    word += c;
  }
  return word + "'";
}

/// The end of a `complete` that offers such values.
std::string Offer(const CompletedValue& value) {
  switch (value.kind) {
    case ValueKind::kText:
      return "";
    case ValueKind::kInstance:
      return " -a '(__limactl_mcp_instances)'";
    case ValueKind::kDirectory:
      return " -a '(__fish_complete_directories)'";
    case ValueKind::kFile:
      return " -a '(__fish_complete_path)'";
    case ValueKind::kChoice:
      return " -a " + FishWord(support::Join(value.choices, " "));
  }
  return "";
}

std::string Line(const std::string& condition, const std::string& rest) {
  return "    complete -c $program -n " + FishWord("__limactl_mcp_at " + condition) + " -f" + rest +
         "\n";
}

std::string OptionRest(const OptionDescription& option, const CompletedValue& value) {
  std::string rest;
  if (!option.letter.empty()) rest += " -s " + option.letter;
  rest += " -l " + option.name;
  if (!option.argument.empty()) rest += " -r" + Offer(value);
  return rest + " -d " + FishWord(option.text);
}

}  // namespace

std::string FishCompletion(const std::vector<CompletedCommand>& commands) {
  std::string with_value = "set -g __limactl_mcp_with_value";
  std::string lines;
  for (const OptionDescription& option : ProgramOptions()) {
    lines += Line("\"\"", OptionRest(option, {}));
  }
  for (const CompletedCommand& command : commands) {
    lines += Line("\"\"", " -a " + command.name + " -d " + FishWord(command.summary));
    for (const CompletedOption& option : command.options) {
      lines += Line(command.name, OptionRest(option.description, option.value));
      if (!option.description.argument.empty()) {
        with_value += " " + FishWord(command.name + " --" + option.description.name);
      }
    }
    for (std::size_t i = 0; i < command.arguments.size(); ++i) {
      lines += Line(command.name + " " + std::to_string(i + 1), Offer(command.arguments[i]));
    }
    // No files where none belong.
    lines += Line(command.name, "");
  }
  return std::string(kHead) + with_value + "\n" + std::string(kLoop) + lines + "end\n";
}

}  // namespace commands
