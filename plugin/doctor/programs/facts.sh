# SPDX-License-Identifier: Apache-2.0
# Prints the version of git, whether sudo needs no password, the MB that are free for the user, and KB and name of
# each copy that is set aside.
git --version 2>/dev/null || echo
if sudo -n true 2>/dev/null; then echo yes; else echo no; fi
df -Pm "$HOME" 2>/dev/null | awk 'NR == 2 { print $4 }'
cd "$HOME/.cache/limactl-mcp/dropped" 2>/dev/null && du -sk -- * 2>/dev/null
exit 0
