// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "network/request.h"
#include "testing/client_hello.h"

namespace network {
namespace {

using testing_support::ClientHello;
using testing_support::HelloMessage;
using testing_support::ServerNameExtension;
using testing_support::TlsExtension;
using testing_support::TlsRecords;
using testing_support::TlsVector;

TEST(ServerNameTest, NameIsFoundOnceTheMessageIsComplete) {
  const std::string name = ServerNameExtension("ok.example");
  for (const std::size_t record : {1U, 100U, 16384U}) {
    const std::string hello = TlsRecords(HelloMessage(TlsExtension(16, "x") + name), record);
    EXPECT_EQ(ServerName(hello), "ok.example");
    EXPECT_EQ(ServerName(hello + "later"), "ok.example");
    for (std::size_t size = 0; size < hello.size(); ++size)
      EXPECT_EQ(ServerName(hello.substr(0, size)), std::nullopt) << size;
  }
}

TEST(ServerNameTest, AnythingElseHasNone) {
  const std::string name = ServerNameExtension("ok.example");
  const std::string message = HelloMessage(name);
  std::string inner_too_long = TlsRecords(message);
  inner_too_long[5 + 4 + 34 + 8 + 4 + 2 + 1] ^= 0x10;  // length of the extensions
  for (const std::string& bytes : std::vector<std::string>{
           "SSH-2.0", "GET /", std::string("\x15\x03\x01\x00\x02\x01\x00", 7),
           std::string("\x16\x02\x01\x00\x02\x01\x00", 7), std::string("\x16\x03\x01\x00\x00", 5),
           std::string("\x16\x03\x01\x40\x01", 5), TlsRecords("\x02" + message.substr(1)),
           TlsRecords(HelloMessage("")), TlsRecords(std::string("\x01\x00\x40\x01", 4)),
           TlsRecords(HelloMessage(name + name)), TlsRecords(HelloMessage(TlsExtension(0, ""))),
           inner_too_long,
           TlsRecords(HelloMessage(TlsExtension(0, TlsVector(2, "\x01" + TlsVector(2, "ok"))))),
           TlsRecords(HelloMessage(TlsExtension(
               0, TlsVector(2, std::string(1, '\0') + TlsVector(2, "one.example") +
                                   std::string(1, '\0') + TlsVector(2, "two.example"))))),
           TlsRecords(HelloMessage(TlsExtension(
               0, TlsVector(2, std::string(1, '\0') + TlsVector(2, "ok.example")) + "x")))})
    EXPECT_EQ(ServerName(bytes), "") << testing::PrintToString(bytes);
}

TEST(ServerNameTest, MessageHasALimit) {
  const auto of = [](std::size_t size) {
    const std::string rest = ServerNameExtension("ok.example");
    const std::size_t other = HelloMessage(rest + TlsExtension(21, "")).size() - 4;
    return HelloMessage(rest + TlsExtension(21, std::string(size - other, '\0')));
  };
  EXPECT_EQ(ServerName(TlsRecords(of(kMaxHello), 8000)), "ok.example");
  EXPECT_EQ(ServerName(TlsRecords(of(kMaxHello + 1), 8000)), "");
}

}  // namespace
}  // namespace network
