#include "commands/documents/page.h"
#include "support/join.h"

namespace commands {
namespace {

constexpr std::string_view kFishScript =
    R"fish(# Made by ./dev generate: fish completion for limactl-mcp and, once this file has been read, for `limactl mcp`.

function __limactl_mcp_instances
    set -l home $LIMA_HOME
    test -n "$home"; or set home $HOME/.lima
    for file in $home/*/lima.yaml
        string replace -r '.*/([^/]*)/lima\.yaml$' '$1' -- $file
    end
end

# Whether an option, after its command, has a value.
function __limactl_mcp_has_value
    contains -- "$argv" @VALUES@
end

# Prints the words after the program, without the one being typed. Fails for another program.
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

# Whether the command is $argv[1] ('' for none yet) and, with $argv[2], whether its argument of that
# position is being typed.
function __limactl_mcp_at
    set -l words (__limactl_mcp_words); or return 1
    while string match -q -- '-*' $words[1]
        set -e words[1]
    end
    test "$words[1]" = "$argv[1]"; or return 1
    set -q argv[2]; or return 0
    set -e words[1]
    set -l position 0
    while set -q words[1]
        if __limactl_mcp_has_value $argv[1] $words[1]
            set -e words[1]
        else if not string match -q -- '-*' $words[1]
            set position (math $position + 1)
        end
        set -e words[1]
    end
    test $position = $argv[2]
end

# limactl's own completion removes what was added before it: load it first.
if type -q limactl
    complete --do-complete 'limactl ' >/dev/null 2>&1
end

for program in limactl-mcp limactl
    set -l add complete -c $program -f -n

    $add '__limactl_mcp_at ""' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at ""' -s v -l version -d 'Print the version'
@ROWS@end
)fish";

std::string QuotedForFish(std::string_view text) {
  return " '" + Replaced(Marked(text, "", ""), "'", "\\'") + "'";
}

/// What `complete` offers.
std::string OfferedByFish(Offers offers) {
  if (offers == Offers::kDirectories) return " -a '(__fish_complete_directories)'";
  if (offers == Offers::kFiles) return " -a '(__fish_complete_path)'";
  if (offers == Offers::kInstances) return " -a '(__limactl_mcp_instances)'";
  const auto words = OfferedWords(offers);
  return words.empty() ? "" : " -a '" + support::Join(words, " ") + "'";
}

}  // namespace

std::string FishCompletion() {
  std::string rows;
  std::string values;
  for (const Command& command : Commands()) {
    if (command.is_hidden) continue;
    const std::string name(command.name);
    const std::string at = "    $add '__limactl_mcp_at " + name;
    rows += "\n    $add '__limactl_mcp_at \"\"' -a " + name + " -d" + QuotedForFish(command.brief) +
            "\n";
    rows += at + "' -s h -l help -d 'Print help'\n";
    for (const Option& option : AllOptions(command)) {
      const std::string word(option.name);
      if (!option.value.empty()) values += "'" + name + " --" + word + "' ";
      rows += at + "' -l " + word + (option.value.empty() ? "" : " -r") +
              OfferedByFish(option.offers) + " -d" + QuotedForFish(option.brief) + "\n";
    }
    for (std::size_t i = 0; i < command.arguments.size(); ++i) {
      rows +=
          at + " " + std::to_string(i) + "'" + OfferedByFish(command.arguments[i].offers) + "\n";
    }
  }
  return Replaced(Replaced(kFishScript, "@VALUES@", values), "@ROWS@", rows);
}

}  // namespace commands
