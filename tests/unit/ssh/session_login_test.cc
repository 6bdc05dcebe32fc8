#include <gtest/gtest.h>

#include "ssh/session_guest.h"

namespace ssh {
namespace {

TEST(CipherList, PutsTheNamesAfterACaretBeforeTheDefaults) {
  EXPECT_EQ(CipherList("^aes256-gcm@openssh.com,aes128-cbc"),
            "aes256-gcm@openssh.com,aes128-cbc,aes128-gcm@openssh.com,"
            "chacha20-poly1305@openssh.com,aes256-ctr,aes192-ctr,aes128-ctr");
}

TEST(CipherList, LeavesEverythingElseToLibssh) {
  for (const char* value : {"", "a,b", "+a", "-a*"}) EXPECT_EQ(CipherList(value), value);
}

}  // namespace
}  // namespace ssh
