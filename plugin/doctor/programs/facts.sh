# SPDX-License-Identifier: Apache-2.0
# Prints the version of git, whether sudo needs no password, and the MB that are free for the user.
git --version 2>/dev/null || echo
if sudo -n true 2>/dev/null; then echo yes; else echo no; fi
df -Pm "$HOME" 2>/dev/null | awk 'NR == 2 { print $4 }'
