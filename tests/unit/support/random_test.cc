#include "support/random.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace support {
namespace {

TEST(RandomBits, DifferEachTime) {
  // A hundred of 32 bits: the chance of a pair is one in a million, of ten pairs none at all.
  RandomBits random;
  std::set<RandomBits::result_type> seen;
  for (int i = 0; i < 100; ++i) seen.insert(random());
  EXPECT_GT(seen.size(), 90U);
}

TEST(RandomBits, ReachTheUpperAndTheLowerHalf) {
  RandomBits random;
  bool upper = false;
  bool lower = false;
  for (int i = 0; i < 200; ++i) (random() > RandomBits::max() / 2 ? upper : lower) = true;
  EXPECT_TRUE(upper && lower);
}

TEST(RandomBits, ServeADistribution) {
  RandomBits random;
  std::uniform_int_distribution<int> die(1, 6);
  std::set<int> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(die(random));
  EXPECT_EQ(seen, (std::set{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace support
