#include "support/random.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

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

TEST(RandomHex, HasSoManyDigitsAndNeverTheSame) {
  for (const std::size_t digits : {0U, 1U, 8U, 9U, 32U}) {
    EXPECT_EQ(RandomHex(digits).size(), digits);
  }
  EXPECT_NE(RandomHex(32), RandomHex(32));
}

TEST(RandomHex, HoldsEachDigitInEachPlace) {
  std::set<char> first;
  std::set<char> last;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = RandomHex(8);
    first.insert(text.front());
    last.insert(text.back());
  }
  const std::string digits = "0123456789abcdef";
  EXPECT_EQ(std::string(first.begin(), first.end()), digits);
  EXPECT_EQ(std::string(last.begin(), last.end()), digits);
}

}  // namespace
}  // namespace support
