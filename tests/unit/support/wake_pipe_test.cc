#include "support/wake_pipe.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include <system_error>

namespace support {
namespace {

bool IsReadable(const WakePipe& pipe) {
  pollfd ready = {.fd = pipe.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 0) == 1;
}

TEST(WakePipe, IsReadableFromTheFirstWakeUpToTheDrain) {
  WakePipe pipe;
  EXPECT_FALSE(IsReadable(pipe));
  pipe.Wake();
  pipe.Wake();
  EXPECT_TRUE(IsReadable(pipe));
  pipe.Drain();
  EXPECT_FALSE(IsReadable(pipe));
  pipe.Wake();
  EXPECT_TRUE(IsReadable(pipe));
}

TEST(WakePipe, CannotBeMadeWhereNoDescriptorIsLeft) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_THROW(WakePipe(), std::system_error);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace support
