// SPDX-License-Identifier: Apache-2.0
#include "testing/temporary_directory.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "testing/throw_errno.h"

namespace testing_support {

TemporaryDirectory::TemporaryDirectory() {
  const char* place = std::getenv("TEST_TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  std::string pattern =
      (std::filesystem::canonical(place == nullptr ? "/tmp" : place) / "lmcp-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    ThrowErrno("mkdtemp " + pattern);
  }
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  // A process of the test may be removing files too, which makes a removal fail.
  constexpr int kMaxTries = 100;
  std::error_code failed;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    std::filesystem::remove_all(path_, failed);
    if (!failed) return;
  }
}

}  // namespace testing_support
