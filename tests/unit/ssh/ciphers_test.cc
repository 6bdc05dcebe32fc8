#include "ssh/ciphers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"

namespace ssh {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CipherList, LimasValuePutsItsNamesFirstAndLosesNone) {
  const std::string list = CipherList("^aes256-gcm@openssh.com,aes128-ctr");
  EXPECT_THAT(list, StartsWith("aes256-gcm@openssh.com,aes128-ctr,aes128-gcm@openssh.com,"));
  EXPECT_EQ(list.find("aes128-ctr"), list.rfind("aes128-ctr")) << "named once";
}

TEST(CipherList, PlusAppendsMinusRemovesAndAPlainListReplaces) {
  EXPECT_THAT(CipherList("+aes128-cbc"), ::testing::EndsWith(",aes128-cbc"));
  EXPECT_THAT(CipherList("-aes128-*"), Not(HasSubstr("aes128")));
  EXPECT_THAT(CipherList("-aes128-*"), HasSubstr("aes256-ctr"));
  EXPECT_THAT(CipherList("-aes256-ctr"),
              AllOf(Not(HasSubstr("aes256-ctr")), HasSubstr("aes256-gcm@openssh.com")));
  EXPECT_EQ(CipherList("a,b"), "a,b");
}

TEST(CipherList, NothingMeansLibsshsOwnChoice) {
  EXPECT_EQ(CipherList(""), "");
}

TEST(CipherList, AValueThatLeavesNoneIsRefused) {
  EXPECT_THROW(CipherList("-*"), support::CallError);
  EXPECT_THROW(CipherList("-aes*,chacha20*"), support::CallError);
  EXPECT_THROW(CipherList(","), support::CallError);
}

}  // namespace
}  // namespace ssh
