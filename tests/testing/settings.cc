// SPDX-License-Identifier: Apache-2.0
#include "testing/settings.h"

#include <sys/stat.h>

#include <cstdlib>

#include "support/environment.h"

namespace testing_support {
namespace {

/// Homebrew's git has Perl-compatible expressions, Apple's does not.
constexpr const char* kPath = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
constexpr const char* kChanges =
    "* +TMPDIR +TEST_TMPDIR +LD_LIBRARY_PATH +GTEST_* +LIMACTL_MCP_* "
    "+ASAN_OPTIONS +LSAN_OPTIONS +TSAN_OPTIONS +UBSAN_OPTIONS "
    "HOME=/nonexistent LANG=C.UTF-8 GIT_CONFIG_NOSYSTEM=1";

}  // namespace

// NOLINTBEGIN(concurrency-mt-unsafe)
void LeaveOutSettings() {
  const support::Environment own = support::OwnEnvironment();
  support::Environment changed = support::Changed(own, kChanges);
  changed["PATH"] = support::Value(own, "LIMACTL_MCP_TEST_PATH", kPath);
  for (const auto& [name, value] : own) ::unsetenv(name.c_str());
  for (const auto& [name, value] : changed) ::setenv(name.c_str(), value.c_str(), 1);
  ::umask(S_IWGRP | S_IWOTH);
}
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace testing_support
