// SPDX-License-Identifier: Apache-2.0
#include "network/addresses.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace network {
namespace {

bool IsPublicText(const char* text) {
  in_addr address{};
  EXPECT_EQ(::inet_pton(AF_INET, text, &address), 1) << text;
  return IsPublic(address);
}

TEST(AddressesTest, BothEndsOfEachReservedRangeAreNotPublicAndTheirNeighboursAre) {
  struct Range {
    const char* before;
    const char* first;
    const char* last;
    const char* after;
  };
  for (const auto& [before, first, last, after] : std::vector<Range>{
           {nullptr, "0.0.0.0", "0.255.255.255", "1.0.0.0"},
           {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
           {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
           {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
           {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
           {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
           {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
           {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
           {"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
           {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
           {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
           {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
           {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
           {"223.255.255.255", "224.0.0.0", "255.255.255.255", nullptr},
       }) {
    for (const char* inside : {first, last}) EXPECT_FALSE(IsPublicText(inside)) << inside;
    for (const char* outside : {before, after}) {
      EXPECT_TRUE(outside == nullptr || IsPublicText(outside)) << outside;
    }
  }
}

}  // namespace
}  // namespace network
