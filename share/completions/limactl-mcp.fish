# fish completion for limactl-mcp and, once this file has been read, for `limactl mcp`.

function __limactl_mcp_instances
    set -l home $LIMA_HOME
    test -n "$home"; or set home $HOME/.lima
    for file in $home/*/lima.yaml
        string replace -r '.*/([^/]*)/lima\.yaml$' '$1' -- $file
    end
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
    set -l position 1
    while set -q words[1]
        if contains -- $words[1] --root --allow-path --command-timeout --max-output --results --audit --copy --copy-dir --include --max-size --branch --mcp --host-mcp
            set -e words[1]
        else if contains -- "$argv[1] $words[1]" 'diff --project' 'take --project' 'drop --project'
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
    $add '__limactl_mcp_at ""' -a serve -d 'Serve MCP over standard input and output for an instance'
    $add '__limactl_mcp_at ""' -a run -d 'Start an agent that can only use the tools of an instance'
    $add '__limactl_mcp_at ""' -a copy -d 'Copy the project into an instance, or refresh the copy'
    $add '__limactl_mcp_at ""' -a diff -d 'Show what was changed in the copy, or on a mount'
    $add '__limactl_mcp_at ""' -a take -d 'Bring that back, as a branch'
    $add '__limactl_mcp_at ""' -a drop -d 'Delete the copy'
    $add '__limactl_mcp_at ""' -a changes -d 'Print what this host runs or obeys that was changed on a mount'
    $add '__limactl_mcp_at ""' -a configure -d 'Let an agent find the server, and switch off its own file and shell tools'
    $add '__limactl_mcp_at ""' -a info -d 'Print the tools as JSON'
    $add '__limactl_mcp_at ""' -a doctor -d 'Check everything between an agent and an instance'
    for command in serve run copy diff take drop changes configure info doctor
        $add "__limactl_mcp_at $command" -s h -l help -d 'Print help'
    end

    for command in serve run
        $add "__limactl_mcp_at $command" -l root -r -a '(__fish_complete_directories)' -d 'Allow only this host directory'
        $add "__limactl_mcp_at $command" -l allow-path -r -a '(__fish_complete_directories)' -d 'Also allow this directory of the guest; append :w to allow writing'
        $add "__limactl_mcp_at $command" -l command-timeout -r -d 'How long a command may run, such as 10m'
        $add "__limactl_mcp_at $command" -l max-output -r -d 'How much output to keep, such as 64KiB'
        $add "__limactl_mcp_at $command" -l results -r -a 'auto structured text' -d 'How results are sent'
        $add "__limactl_mcp_at $command" -l start -d 'Start a stopped instance'
        $add "__limactl_mcp_at $command" -l allow-settings -d 'Let the file tools write settings of agents, editors and git'
        $add "__limactl_mcp_at $command" -l audit -r -a '(__fish_complete_path)' -d 'Append lines of JSON for every call'
    end
    $add '__limactl_mcp_at serve' -l copy -r -a '(__fish_complete_directories)' -d 'Serve the copy of this host directory'
    for command in run copy
        $add "__limactl_mcp_at $command" -l copy-dir -r -d 'The directory of the copy in the guest'
    end
    $add '__limactl_mcp_at copy' -l include -r -a '(__fish_complete_path)' -d 'Also send this file, which was ignored before'
    for command in diff take drop
        $add "__limactl_mcp_at $command" -l project -r -a '(__fish_complete_directories)' -d 'The copy of this project, also if it was moved'
    end
    for command in diff take
        $add "__limactl_mcp_at $command" -l max-size -r -d 'The most that may come from the guest'
    end
    $add '__limactl_mcp_at diff' -l stat -d 'Only names, with numbers of lines'
    $add '__limactl_mcp_at take' -l apply -d 'Change the working tree instead'
    $add '__limactl_mcp_at take' -l yes -d 'With --apply: do not ask'
    $add '__limactl_mcp_at take' -l branch -r -d 'The name of the branch'
    $add '__limactl_mcp_at drop' -l force -d 'Also delete what was not taken'
    $add '__limactl_mcp_at changes' -l accept -d 'Make the project as it is the baseline'
    $add '__limactl_mcp_at run' -l mcp -r -d 'Also start this MCP server, in the virtual machine'
    $add '__limactl_mcp_at run' -l host-mcp -r -d 'Also start your own MCP server of that name, on the host'
    $add '__limactl_mcp_at run' -l trust -d 'Let the agent call the tools without asking each time'
    $add '__limactl_mcp_at configure' -l print -d 'Only print what the files would contain'
    $add '__limactl_mcp_at configure' -l user -d 'Configure all your projects'
    $add '__limactl_mcp_at configure' -l project -d 'Use only files of the project'
    $add '__limactl_mcp_at configure' -l trust -d 'Let the agent call the tools without asking each time'
    $add '__limactl_mcp_at configure' -l remove -d 'Remove what configure adds'
    $add '__limactl_mcp_at doctor' -l json -d 'Print one JSON object'

    for place in 'serve 1' 'run 2' 'copy 1' 'diff 1' 'take 1' 'drop 1' 'changes 1' 'configure 2' 'doctor 1'
        $add "__limactl_mcp_at $place" -a '(__limactl_mcp_instances)'
    end
    $add '__limactl_mcp_at run 1' -a 'claude codex copilot gemini opencode'
    $add '__limactl_mcp_at configure 1' -a 'claude codex copilot cursor gemini opencode vscode zed'
    # No file names.
    for command in serve run copy diff take drop changes configure info doctor
        $add "__limactl_mcp_at $command"
    end
end
