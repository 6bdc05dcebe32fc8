# SPDX-License-Identifier: Apache-2.0
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
        if contains -- "$argv[1] $words[1]" 'serve --copy' 'serve --root' 'serve --allow-path' 'serve --command-timeout' 'serve --results' 'serve --audit' 'run --copy-dir' 'run --mcp' 'run --host-mcp' 'run --root' 'run --allow-path' 'run --command-timeout' 'run --results' 'run --audit' 'copy --copy-dir' 'diff --project' 'diff --max-size' 'take --branch' 'take --project' 'take --max-size' 'drop --project' 
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

    $add '__limactl_mcp_at ""' -a serve -d 'Serve MCP over standard input and output for an instance'
    $add '__limactl_mcp_at help 0' -a serve -d 'Serve MCP over standard input and output for an instance'
    $add '__limactl_mcp_at serve' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at serve' -l copy -r -a '(__fish_complete_directories (__limactl_mcp_value))' -d 'Serve the copy of this host directory, and nothing else of the host'
    $add '__limactl_mcp_at serve' -l root -r -a '(__fish_complete_directories (__limactl_mcp_value))' -d 'Allow only this host directory, which must lie in a mount'
    $add '__limactl_mcp_at serve' -l allow-path -r -a '(__fish_complete_directories (__limactl_mcp_value))' -d 'Also allow this directory of the guest, such as /tmp; append :w to allow writing'
    $add '__limactl_mcp_at serve' -l allow-settings -d 'Let the file tools write settings of agents, editors and git'
    $add '__limactl_mcp_at serve' -l start -d 'Start a stopped instance: now, and whenever a call finds it stopped'
    $add '__limactl_mcp_at serve' -l command-timeout -r -d 'How long a command may run, such as 90s, 10m or 1h; 0: no limit (default: 9m; run claude without -p: 0)'
    $add '__limactl_mcp_at serve' -l results -r -a 'auto structured text' -d 'How results are sent'
    $add '__limactl_mcp_at serve' -l audit -r -a '(__fish_complete_path (__limactl_mcp_value))' -d 'Append a line of JSON to FILE for every call'
    $add '__limactl_mcp_at serve 0' -a '(__limactl_mcp_instances)'

    $add '__limactl_mcp_at ""' -a run -d 'Start an agent that can only use the tools of an instance'
    $add '__limactl_mcp_at help 0' -a run -d 'Start an agent that can only use the tools of an instance'
    $add '__limactl_mcp_at run' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at run' -l copy-dir -r -d 'Work in a copy, in this directory of the guest'
    $add '__limactl_mcp_at run' -l trust -d 'Let the agent call the tools of the guest without asking you'
    $add '__limactl_mcp_at run' -l mcp -r -d 'Also start this MCP server, in the guest'
    $add '__limactl_mcp_at run' -l host-mcp -r -d 'Also start your own MCP server of that name, on the host'
    $add '__limactl_mcp_at run' -l root -r -a '(__fish_complete_directories (__limactl_mcp_value))' -d 'Allow only this host directory, which must lie in a mount'
    $add '__limactl_mcp_at run' -l allow-path -r -a '(__fish_complete_directories (__limactl_mcp_value))' -d 'Also allow this directory of the guest, such as /tmp; append :w to allow writing'
    $add '__limactl_mcp_at run' -l allow-settings -d 'Let the file tools write settings of agents, editors and git'
    $add '__limactl_mcp_at run' -l start -d 'Start a stopped instance: now, and whenever a call finds it stopped'
    $add '__limactl_mcp_at run' -l command-timeout -r -d 'How long a command may run, such as 90s, 10m or 1h; 0: no limit (default: 9m; run claude without -p: 0)'
    $add '__limactl_mcp_at run' -l results -r -a 'auto structured text' -d 'How results are sent'
    $add '__limactl_mcp_at run' -l audit -r -a '(__fish_complete_path (__limactl_mcp_value))' -d 'Append a line of JSON to FILE for every call'
    $add '__limactl_mcp_at run 0' -a 'claude codex copilot gemini opencode'
    $add '__limactl_mcp_at run 1' -a '(__limactl_mcp_instances)'
    $add '__limactl_mcp_at run 2'

    $add '__limactl_mcp_at ""' -a copy -d 'Copy the project into an instance, or refresh the copy'
    $add '__limactl_mcp_at help 0' -a copy -d 'Copy the project into an instance, or refresh the copy'
    $add '__limactl_mcp_at copy' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at copy' -l copy-dir -r -d 'The directory in the guest, if not the project\'s own path'
    $add '__limactl_mcp_at copy 0' -a '(__limactl_mcp_instances)'

    $add '__limactl_mcp_at ""' -a diff -d 'Show what was changed in the copy, or on a mount'
    $add '__limactl_mcp_at help 0' -a diff -d 'Show what was changed in the copy, or on a mount'
    $add '__limactl_mcp_at diff' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at diff' -l stat -d 'Only names, with numbers of lines'
    $add '__limactl_mcp_at diff' -l project -r -a '(__fish_complete_directories (__limactl_mcp_value))' -d 'The copy of this project, also if it was moved or deleted since'
    $add '__limactl_mcp_at diff' -l max-size -r -d 'The most that may come from the guest'
    $add '__limactl_mcp_at diff 0' -a '(__limactl_mcp_instances)'

    $add '__limactl_mcp_at ""' -a take -d 'Bring the changes made in the copy back, as a branch'
    $add '__limactl_mcp_at help 0' -a take -d 'Bring the changes made in the copy back, as a branch'
    $add '__limactl_mcp_at take' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at take' -l apply -d 'Change the working tree instead: all of it or nothing'
    $add '__limactl_mcp_at take' -l yes -d 'With --apply: do not ask, whatever the change contains'
    $add '__limactl_mcp_at take' -l undo -d 'Put back the files that the last --apply changed'
    $add '__limactl_mcp_at take' -l force -d 'With --undo: also files that you have changed since'
    $add '__limactl_mcp_at take' -l branch -r -d 'The name of the branch'
    $add '__limactl_mcp_at take' -l project -r -a '(__fish_complete_directories (__limactl_mcp_value))' -d 'The copy of this project, also if it was moved or deleted since'
    $add '__limactl_mcp_at take' -l max-size -r -d 'The most that may come from the guest'
    $add '__limactl_mcp_at take 0' -a '(__limactl_mcp_instances)'

    $add '__limactl_mcp_at ""' -a drop -d 'Set the copy aside for 14 days'
    $add '__limactl_mcp_at help 0' -a drop -d 'Set the copy aside for 14 days'
    $add '__limactl_mcp_at drop' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at drop' -l force -d 'Also what was not taken'
    $add '__limactl_mcp_at drop' -l undo -d 'Bring the copy back that was set aside last'
    $add '__limactl_mcp_at drop' -l purge -d 'Delete the copy, and what is set aside of this project'
    $add '__limactl_mcp_at drop' -l project -r -a '(__fish_complete_directories (__limactl_mcp_value))' -d 'The copy of this project, also if it was moved or deleted since'
    $add '__limactl_mcp_at drop 0' -a '(__limactl_mcp_instances)'

    $add '__limactl_mcp_at ""' -a changes -d 'List changes that programs on this host would run or obey'
    $add '__limactl_mcp_at help 0' -a changes -d 'List changes that programs on this host would run or obey'
    $add '__limactl_mcp_at changes' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at changes' -l accept -d 'Accept the mounted project\'s present state as the baseline'
    $add '__limactl_mcp_at changes 0' -a '(__limactl_mcp_instances)'

    $add '__limactl_mcp_at ""' -a configure -d 'Print how to give an agent the server, and switch its own tools off'
    $add '__limactl_mcp_at help 0' -a configure -d 'Print how to give an agent the server, and switch its own tools off'
    $add '__limactl_mcp_at configure' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at configure 0' -a 'claude codex copilot cursor gemini opencode vscode zed'
    $add '__limactl_mcp_at configure 1' -a '(__limactl_mcp_instances)'
    $add '__limactl_mcp_at configure 2'

    $add '__limactl_mcp_at ""' -a info -d 'Print the tools as JSON'
    $add '__limactl_mcp_at help 0' -a info -d 'Print the tools as JSON'
    $add '__limactl_mcp_at info' -s h -l help -d 'Print help'

    $add '__limactl_mcp_at ""' -a doctor -d 'Check everything between an agent and an instance, and print what to do'
    $add '__limactl_mcp_at help 0' -a doctor -d 'Check everything between an agent and an instance, and print what to do'
    $add '__limactl_mcp_at doctor' -s h -l help -d 'Print help'
    $add '__limactl_mcp_at doctor' -l json -d 'Print one JSON object instead of lines'
    $add '__limactl_mcp_at doctor 0' -a '(__limactl_mcp_instances)'
end
