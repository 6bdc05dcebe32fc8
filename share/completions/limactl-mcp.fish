# SPDX-License-Identifier: Apache-2.0
# Completes limactl-mcp in fish and, once this file has been read, `limactl mcp`.

# Fails for another command of limactl.
function __limactl_mcp
    set -l token (commandline -ct)
    set -l answer (limactl-mcp __complete (commandline -opc) "$token" 2>/dev/null)
    or return 1
    set -l option (string match -r '^--[^=]*=' -- "$token")
    set -l typed (string replace -r '^--[^=]*=' '' -- "$token")
    for line in $answer
        switch $line
            case :directories
                __fish_complete_directories "$typed" | string replace -r -- '^' "$option"
            case :files
                __fish_complete_path "$typed" | string replace -r -- '^' "$option"
            case '*'
                echo $line
        end
    end
    return 0
end

# limactl's own completion removes what was added before it: load it first. It offers options of limactl behind
# `limactl mcp`.
if type -q limactl
    complete --do-complete 'limactl ' >/dev/null 2>&1
end
if functions -q __limactl_prepare_completions; and not functions -q __limactl_mcp_others
    functions -c __limactl_prepare_completions __limactl_mcp_others
    function __limactl_prepare_completions
        not __limactl_mcp >/dev/null; and __limactl_mcp_others
    end
end
complete -c limactl-mcp -f -a '(__limactl_mcp)'
complete -c limactl -f -n '__limactl_mcp >/dev/null' -a '(__limactl_mcp)'
