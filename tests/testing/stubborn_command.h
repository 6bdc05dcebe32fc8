#pragma once

namespace testing_support {

/// A script of bash with a child, both deaf to TERM: in its directory it writes both process ids
/// (main, child), then prints "before" and makes the file ready.
inline constexpr const char* kStubbornCommand =
    "trap '' TERM; (sh -c 'echo $PPID' >child; while :; do sleep 0.2; done) & echo $$ >main; "
    "until [ -s child ]; do sleep 0.01; done; echo before; touch ready; "
    "while :; do sleep 0.2; done";

}  // namespace testing_support
