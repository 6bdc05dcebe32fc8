#include "testing/temporary_directory.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace testing_support {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::canonical("/tmp") / "lmcp-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
  }
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // a leftover in /tmp is no reason to end a test run
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace testing_support
