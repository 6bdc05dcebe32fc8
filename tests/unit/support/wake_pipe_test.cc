#include "support/wake_pipe.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <system_error>

#include "testing/no_more_descriptors.h"

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
  const testing_support::NoMoreDescriptors none;
  if (!none.imposed()) GTEST_SKIP() << "this build's sanitizer needs descriptors itself";
  EXPECT_THROW(WakePipe(), std::system_error);
}

}  // namespace
}  // namespace support
