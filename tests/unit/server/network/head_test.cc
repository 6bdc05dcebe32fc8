// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "network/request.h"

namespace network {
namespace {

using enum Head::Kind;

// tests/integration/network_test.cc has the requests that are refused.
TEST(HeadTest, OnlyTheFirstLineCounts) {
  const Head head = ParseHead("CONNECT ok.example:443 HTTP/1.0\r\nHost: x\r\n\r\nrest");
  EXPECT_EQ(head.kind, kConnect);
  EXPECT_EQ(head.target, "ok.example:443");
  EXPECT_EQ(head.size, 44U);
}

TEST(HeadTest, PlainHttpHasItsHost) {
  for (const auto& [url, target] : std::vector<std::pair<std::string, std::string>>{
           {"http://ok.example/x", "ok.example:80"},
           {"http://ok.example:8080", "ok.example:8080"},
           {"http://user@ok.example?x", "ok.example:80"},
           {"http://", ":80"}}) {
    const Head head = ParseHead("GET " + url + " HTTP/1.1\r\n");
    EXPECT_EQ(head.kind, kPlainHttp) << url;
    EXPECT_EQ(head.target, target) << url;
  }
}

TEST(HeadTest, WrongBeginningIsKnownAtOnce) {
  for (const char* bytes : {"\x16\x03\x01", "\r\n", "\n", "connect", " CONNECT", "CONNECT x\n"})
    EXPECT_EQ(ParseHead(bytes).kind, kOther) << bytes;
  for (const char* bytes :
       {"", "C", "SSH-2.0", "CONNECT x:1 HTTP/1.1\r\n", "CONNECT x:1 HTTP/1.1\r\n\r"})
    EXPECT_EQ(ParseHead(bytes).kind, kIncomplete) << bytes;
}

TEST(HeadTest, LengthHasALimit) {
  const std::string line = "CONNECT x.example:1 HTTP/1.1\r\n";
  const auto of = [&](std::size_t size) {
    return line + std::string(size - line.size() - 4, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(ParseHead(of(kMaxHead)).size, kMaxHead);
  EXPECT_EQ(ParseHead(of(kMaxHead + 1)).kind, kOther);
  EXPECT_EQ(ParseHead(std::string(kMaxHead - 1, 'C')).kind, kIncomplete);
  EXPECT_EQ(ParseHead(std::string(kMaxHead, 'C')).kind, kOther);
}

}  // namespace
}  // namespace network
