// SPDX-License-Identifier: Apache-2.0
#include "commands/documents/completion.h"
#include "commands/documents/documents.h"
#include "support/format.h"

namespace commands {
namespace {

using support::Replaced;

constexpr std::string_view kFishScript =
    R"fish(# SPDX-License-Identifier: Apache-2.0
# Made by ./dev generate: fish completion for limactl-mcp and, once this file has been read, for `limactl mcp`.

function __limactl_mcp_instances
    set -l home $LIMA_HOME
    test -n "$home"; or set home $HOME/.lima
    for file in $home/*/lima.yaml
        string replace -r '.*/([^/]*)/lima\.yaml$' '$1' -- $file
    end
end

function __limactl_mcp_value # the word being typed, without --option=
    commandline -ct | string replace -r '^--[^=]*=' ''
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
    contains -- -- $words; and return 1
    set -e words[1]
    set -l position 0
    while set -q words[1]
        if contains -- "$argv[1] $words[1]" @VALUES@
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

# Behind `limactl mcp`, that one offers options of limactl.
if functions -q __limactl_prepare_completions; and not functions -q __limactl_mcp_others
    functions -c __limactl_prepare_completions __limactl_mcp_others
    function __limactl_prepare_completions
        not __limactl_mcp_words >/dev/null; and __limactl_mcp_others
    end
end

for program in limactl-mcp limactl
    set -l add complete -c $program -f -n

    $add 'contains -- -- (__limactl_mcp_words)'
    $add '__limactl_mcp_at ""' -a help -d 'Print help'
    $add '__limactl_mcp_at ""' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at ""' -s v -l version -d 'Print the version'
@ROWS@end
)fish";

std::string QuotedForFish(std::string_view text) {
  return Replaced(text, "'", "\\'");
}

}  // namespace

std::string FishCompletion() {
  const CompletionFormat rows = {
      .command =
          "\n    $add '__limactl_mcp_at \"\"' -a @COMMAND@ -d '@BRIEF@'\n"
          "    $add '__limactl_mcp_at help 0' -a @COMMAND@ -d '@BRIEF@'\n"
          "    $add '__limactl_mcp_at @COMMAND@' -s h -l help -d 'Print help'\n",
      .option = "    $add '__limactl_mcp_at @COMMAND@' -l @NAME@ -d '@BRIEF@'\n",
      .value = "    $add '__limactl_mcp_at @COMMAND@' -l @NAME@ -r@OFFER@ -d '@BRIEF@'\n",
      .argument = "    $add '__limactl_mcp_at @COMMAND@ @NUMBER@'@OFFER@\n",
      .quoted = &QuotedForFish,
      .nothing = "",
      .directories = " -a '(__fish_complete_directories (__limactl_mcp_value))'",
      .files = " -a '(__fish_complete_path (__limactl_mcp_value))'",
      .instances = " -a '(__limactl_mcp_instances)'",
      .words = " -a '@WORDS@'"};
  return Replaced(Replaced(kFishScript, "@ROWS@", Completion(rows)), "@VALUES@",
                  Completion({.value = "'@COMMAND@ --@NAME@' "}));
}

}  // namespace commands
