// SPDX-License-Identifier: Apache-2.0
#include "network/allow_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace network {
namespace {

using ::testing::ElementsAre;

// tests/suites/allow.txt has what is refused.
TEST(SiteTest, NameIsExactAndInLowerCase) {
  EXPECT_EQ(HostName("OK.Example."), "ok.example");
  EXPECT_EQ(HostName("xn--bcher-kva.example"), "xn--bcher-kva.example");
  EXPECT_EQ(HostName("1.2.3.com"), "1.2.3.com");
  for (const char* word :
       {"", ".", "..", ".example", "ok.example..", "ok..example", "example", "ok.-x", "ok.x-",
        "1.2.3.4", "ok.1x", "1.0x2", "a_b.example", "ok.exa mple"})
    EXPECT_EQ(HostName(word), "") << word;
}

TEST(SiteTest, LabelAndNameHaveALimit) {
  const std::string label(63, 'a');
  EXPECT_NE(HostName(label + ".example"), "");
  EXPECT_EQ(HostName(label + "a.example"), "");
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  EXPECT_EQ(HostName(longest).size(), 253U);
  EXPECT_EQ(HostName(longest + "a"), "");
}

TEST(SiteTest, PortIsANumberUpTo65535) {
  EXPECT_EQ(ParseSite("ok.example:1")->port, 1);
  EXPECT_EQ(ParseSite("ok.example:65535")->port, 65535);
  EXPECT_EQ(ParseSite("ok.example", kHttpsPort)->port, 443);
  for (const char* text :
       {"ok.example", "ok.example:", "ok.example:0", "ok.example:65536", "ok.example:4294967739",
        "ok.example:44x", "ok.example:+1", "ok.example:-1", "ok.example: 1", "ok.example:1:2"})
    EXPECT_FALSE(ParseSite(text)) << text;
}

TEST(AllowListTest, InvalidLinesAreKeptApart) {
  const testing_support::TemporaryDirectory directory;
  testing_support::WriteFile(directory.path() / "network.allow",
                             "*\n\nok.example:443\nother.example\n\x1B:443\n");
  const AllowList list = ReadAllowList(directory.path());
  EXPECT_THAT(list.sites, ElementsAre(Site{"ok.example", 443}));
  EXPECT_THAT(list.invalid, ElementsAre("*", "other.example", "\x1B:443"));
}

TEST(AllowListTest, TooLongAListIsNotWritten) {
  const testing_support::TemporaryDirectory directory;
  std::set<Site> sites;
  std::size_t size = 0;
  for (int i = 0; size <= kMaxAllowList; ++i) {
    const Site site{std::to_string(i) + ".example", 443};
    size += site.Text().size() + 1;
    if (size <= kMaxAllowList) sites.insert(site);
  }
  ChangeAllowList(directory.path(), sites, {});
  EXPECT_EQ(ReadAllowList(directory.path()).sites, sites);
  EXPECT_THROW(ChangeAllowList(directory.path(), {{"one-more.example", 443}}, {}), support::Error);
  EXPECT_EQ(ReadAllowList(directory.path()).sites, sites);
}

}  // namespace
}  // namespace network
