#include "ssh/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "support/errors.h"

namespace ssh {
namespace {

/// This process can open nothing further, until it is destroyed.
class NoFurtherDescriptor {
 public:
  NoFurtherDescriptor() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit none = before_;
    none.rlim_cur = 0;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoFurtherDescriptor() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoFurtherDescriptor(const NoFurtherDescriptor&) = delete;
  NoFurtherDescriptor& operator=(const NoFurtherDescriptor&) = delete;

 private:
  rlimit before_{};
};

TEST(Connection, AHostWithoutFileDescriptorsIsNamed) {
  std::string text;
  {
    const NoFurtherDescriptor limit;
    try {
      Connection::Open({"127.0.0.1", 1, "user", {"/key"}, ""}, {}, {});
    } catch (const support::CallError& error) {
      text = error.what();
    }
  }
  EXPECT_THAT(text, ::testing::HasSubstr("gives no further thread or file descriptor"));
}

}  // namespace
}  // namespace ssh
