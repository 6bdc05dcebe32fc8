#pragma once

namespace testing_support {

/// A bash script with a child; both ignore TERM. Writes their process ids to the files main and
/// child, prints "before" and creates the file ready.
inline constexpr const char* kStubbornCommand =
    "trap '' TERM; (sh -c 'echo $PPID' >child; while :; do sleep 0.2; done) & echo $$ >main; "
    "until [ -s child ]; do sleep 0.01; done; echo before; touch ready; "
    "while :; do sleep 0.2; done";

}  // namespace testing_support
