#include "ssh/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/errors.h"
#include "testing/no_more_descriptors.h"

namespace ssh {
namespace {

TEST(Connection, AHostWithoutFileDescriptorsIsNamed) {
  std::string text;
  {
    const testing_support::NoMoreDescriptors none;
    if (!none.imposed()) GTEST_SKIP() << "this build's sanitizer needs descriptors itself";
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
