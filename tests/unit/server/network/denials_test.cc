// SPDX-License-Identifier: Apache-2.0
#include "network/denials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace network {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Name(std::size_t number) {
  return "n" + std::to_string(number) + ".example:443";
}

TEST(DenialsTest, NoteHasWhatCameSince) {
  Denials denials("closed");
  denials.Add("early.example:443");
  const std::size_t seen = denials.count();
  EXPECT_EQ(denials.NoteSince(seen), "");
  denials.Add("late.example:8443");
  EXPECT_EQ(denials.NoteSince(seen),
            "network: denied late.example:8443. The user can run on the host: limactl mcp allow "
            "closed late.example:8443");
  denials.Add("early.example:443");
  EXPECT_THAT(denials.NoteSince(seen), HasSubstr("early.example:443, late.example:8443."));
}

TEST(DenialsTest, ProcessGetsEachOnce) {
  Denials denials("closed");
  denials.Add("before.example:443");
  const std::size_t start = denials.count();
  denials.Add("x.example:443", "a reason");
  EXPECT_EQ(denials.NoteFor("p1", start), "network: denied x.example:443 (a reason)");
  EXPECT_EQ(denials.NoteFor("p1"), "");
  denials.Add("y.example:443", "a reason");
  EXPECT_EQ(denials.NoteFor("p1"), "network: denied y.example:443 (a reason)");
  EXPECT_EQ(denials.NoteFor("p2", start),
            "network: denied x.example:443 (a reason), y.example:443 (a reason)");
}

TEST(DenialsTest, MoreThanTenAreCounted) {
  Denials denials("closed");
  for (std::size_t i = 0; i < Denials::kMaxShown; ++i) denials.Add(Name(i));
  EXPECT_THAT(denials.NoteSince(0), Not(HasSubstr(" more")));
  denials.Add(Name(99));
  EXPECT_THAT(denials.NoteSince(0), HasSubstr(" and 1 more. The user"));
}

TEST(DenialsTest, UnboundedDenialsTakeBoundedMemory) {
  Denials denials("closed");
  for (std::size_t i = 0; i < Denials::kMaxKnown; ++i) denials.Add(Name(i));
  EXPECT_THAT(denials.NoteSince(0), HasSubstr(" and 990 more."));
  const std::size_t seen = denials.count();
  denials.Add(Name(Denials::kMaxKnown));
  EXPECT_EQ(denials.NoteSince(seen), "network: denied others (too many)");
}

TEST(DenialsTest, UserSeesTheMostFrequentOfAllServers) {
  const testing_support::TemporaryDirectory directory;
  const auto file = directory.path() / "denials";
  EXPECT_EQ(DescribeDenials(file, "closed"), "");
  Denials one("closed", file);
  Denials other("closed", file);
  one.Add("a.example:443");
  other.Add("b.example:8443");
  other.Add("b.example:8443");
  one.Add("c.example:80", "a reason");
  EXPECT_EQ(DescribeDenials(file, "closed"),
            "The guest was denied:\n"
            "  b.example:8443, 2 times\n"
            "    limactl mcp allow closed b.example:8443\n"
            "  a.example:443, 1 time\n"
            "    limactl mcp allow closed a.example\n"
            "  c.example:80 (a reason), 1 time\n"
            "Allow only names that you know: the guest chose them.\n");
  for (std::size_t i = 0; i < Denials::kMaxShown; ++i) one.Add(Name(i));
  EXPECT_THAT(DescribeDenials(file, "closed"), HasSubstr("  and 3 more\n"));
}

TEST(DenialsTest, FileHasALimit) {
  const testing_support::TemporaryDirectory directory;
  const auto file = directory.path() / "denials";
  Denials denials("closed", file);
  for (std::size_t i = 0; i <= Denials::kMaxLines; ++i) denials.Add("a.example:443");
  EXPECT_THAT(DescribeDenials(file, "closed"), HasSubstr("a.example:443, 10000 times\n"));
}

}  // namespace
}  // namespace network
