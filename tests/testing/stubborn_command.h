#pragma once

namespace testing_support {

/// A script of bash with a child, both deaf to TERM: prints "before" and, in its directory, writes
/// both process ids (main, child) and then makes the file ready.
inline constexpr const char* kStubbornCommand =
    "trap '' TERM; (echo $BASHPID >child; while :; do sleep 0.2; done) & echo $$ >main; "
    "echo before; touch ready; while :; do sleep 0.2; done";

}  // namespace testing_support
