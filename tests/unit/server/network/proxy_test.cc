// SPDX-License-Identifier: Apache-2.0
#include "network/proxy.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <mutex>

#include "network/allow_list.h"
#include "testing/temporary_directory.h"

namespace network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The proxy with a resolver of its own. tests/integration/network_test.cc has what is connected.
class ProxyTest : public ::testing::Test {
 protected:
  std::string Answer(const std::string& request) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    const support::FileDescriptor client(ends[0]);
    proxy_.Serve(support::FileDescriptor(ends[1]));
    EXPECT_EQ(::send(client.get(), request.data(), request.size(), 0),
              static_cast<ssize_t>(request.size()));
    std::string answer;
    std::array<char, 4096> piece;
    for (ssize_t count = 0; (count = ::recv(client.get(), piece.data(), piece.size(), 0)) > 0;)
      answer.append(piece.data(), static_cast<std::size_t>(count));
    return answer;
  }
  std::string Connect(const std::string& target) {
    return Answer("CONNECT " + target + " HTTP/1.1\r\n\r\n");
  }
  void Allow(const Site& site) { ChangeAllowList(directory_.path(), {site}, {}); }

  struct Resolver {
    std::mutex mutex;
    std::vector<std::string> asked;
    std::vector<const char*> addresses;
  };
  const std::shared_ptr<Resolver> resolver_ = std::make_shared<Resolver>();
  const std::shared_ptr<Denials> denials_ = std::make_shared<Denials>("closed");
  const testing_support::TemporaryDirectory directory_;

 private:
  Proxy proxy_{directory_.path(), "closed", denials_,
               [resolver = resolver_](const std::string& host) {
                 const std::scoped_lock lock(resolver->mutex);
                 resolver->asked.push_back(host);
                 std::vector<in_addr> addresses(resolver->addresses.size());
                 for (std::size_t i = 0; i < addresses.size(); ++i)
                   ::inet_pton(AF_INET, resolver->addresses[i], &addresses[i]);
                 return addresses;
               }};
};

TEST_F(ProxyTest, NameThatIsNotOnTheListIsNeverLookedUp) {
  Allow({"ok.example", 443});
  for (const char* target : {"other.example:443", "ok.example:8443", "secret.ok.example:443",
                             "example:443", "1.2.3.4:443", "*.example:443", "localhost:443"})
    EXPECT_THAT(Connect(target), StartsWith("HTTP/1.1 403 ")) << target;
  EXPECT_THAT(Answer("GET http://ok.example/ HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(resolver_->asked, IsEmpty());
  EXPECT_EQ(denials_->count(), 8U);
}

TEST_F(ProxyTest, OnlyPrivateAddressesAreADenialAndNoneIsNot) {
  Allow({"ok.example", 443});
  EXPECT_THAT(Connect("ok.example:443"), HasSubstr(" 502 ok.example has no IPv4 address"));
  EXPECT_EQ(denials_->count(), 0U);
  resolver_->addresses = {"127.0.0.1", "10.0.0.1"};
  EXPECT_THAT(Connect("ok.example:443"), HasSubstr(" 403 Not allowed: ok.example has a private "));
  EXPECT_EQ(denials_->NoteSince(0),
            "network: denied ok.example:443 (ok.example has a private address)");
  EXPECT_THAT(resolver_->asked, ElementsAre("ok.example", "ok.example"));
}

TEST_F(ProxyTest, GuestTextIsShownSafely) {
  EXPECT_THAT(Connect("\x1B[31m" + std::string(5000, 'x')), StartsWith("HTTP/1.1 403 "));
  const std::string note = denials_->NoteSince(0);
  EXPECT_THAT(note, StartsWith("network: denied \\x1b[31mxxx"));
  EXPECT_LT(note.size(), 300U);
}

TEST(ProxyVariablesTest, ProgramsOfAllKindsFindThePort) {
  EXPECT_EQ(ExportVariables(4000),
            "export NODE_USE_ENV_PROXY=1 http_proxy=http://127.0.0.1:4000 "
            "https_proxy=http://127.0.0.1:4000 HTTP_PROXY=http://127.0.0.1:4000 "
            "HTTPS_PROXY=http://127.0.0.1:4000 no_proxy=localhost,127.0.0.1,::1 "
            "NO_PROXY=localhost,127.0.0.1,::1\n");
}

}  // namespace
}  // namespace network
