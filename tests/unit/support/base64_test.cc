#include "support/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace support {
namespace {

TEST(Base64, EncodesTheExamplesOfRfc4648) {
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64("f"), "Zg==");
  EXPECT_EQ(EncodeBase64("fo"), "Zm8=");
  EXPECT_EQ(EncodeBase64("foo"), "Zm9v");
  EXPECT_EQ(EncodeBase64("foob"), "Zm9vYg==");
  EXPECT_EQ(EncodeBase64("foobar"), "Zm9vYmFy");
}

TEST(Base64, EncodesBytesOfAllValues) {
  EXPECT_EQ(EncodeBase64(std::string("\x00\xFF\xFE", 3)), "AP/+");
  EXPECT_EQ(EncodeBase64("\xFB\xEF\xBE"), "++++");
}

}  // namespace
}  // namespace support
