#pragma once

#include <string_view>

namespace tools {

/// For the beginning of a script of /bin/sh: the function `others SIGNAL`, which sends the signal
/// to what the session that the process $main leads has in other process groups than $main's:
/// timeout(1) and a shell with job control make groups of their own. True where it found something;
/// where there is no /proc it finds nothing.
///
/// The processes of $main's own group are left out, or they would get TERM twice, which some take
/// for more than TERM; and where $main leads no session, because there is no setsid, nothing is
/// found. Zombies do not count. (Fields of /proc/PID/stat behind the name: proc(5).)
///
/// grep names the few processes that can be meant: a shell's `read` asks the kernel for each byte,
/// which takes four times as long for a hundred processes.
inline constexpr std::string_view kSignalOthers =
    R"sh(others() { found=1; for stat in $(grep -l " $main " /proc/[0-9]*/stat); do )sh"
    R"sh(read -r line <"$stat" || continue; )sh"
    R"sh(pid=${stat#/proc/}; set -- "$1" ${line##*") "}; )sh"
    R"sh(case $2/$4/$5 in Z/* | */"$main"/*) ;; )sh"
    R"sh(*/"$main") kill "-$1" "${pid%/stat}" && found=0 ;; esac; done; return $found; }; )sh";

}  // namespace tools
