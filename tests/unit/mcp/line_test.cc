#include "mcp/line.h"

#include <gtest/gtest.h>

namespace mcp {
namespace {

std::shared_ptr<const std::string> Shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

TEST(Line, PartsKeepTheirOrder) {
  Line line(std::string("a"));
  line.Append(Shared("\"\n"), Escaping::kOnce);
  line.Append(Shared("\"\n"), Escaping::kTwice);
  Line more(std::string("z"));
  line.Append(std::move(more));
  EXPECT_EQ(line.bytes(), 6U);
  EXPECT_EQ(line.escaped_bytes(), 13U);
  EXPECT_EQ(std::move(line).Text(), R"(a\"\n\\\"\\nz)");
}

TEST(Line, SmallPartsAreTakenTogether) {
  Line line(std::string("a"));
  line.Append(std::string("b"));
  std::string piece;
  ASSERT_TRUE(line.Take(piece));
  EXPECT_EQ(piece, "ab");
  EXPECT_FALSE(line.Take(piece));
}

TEST(Line, LargeTextsComeInBoundedPieces) {
  const std::string text(5 * Line::kPieceBytes + 3, '\x1f');
  Line line(std::string("["));
  line.Append(Shared(text), Escaping::kTwice);
  EXPECT_EQ(line.escaped_bytes(), 1 + text.size() * kLongestEscape);
  std::string all;
  std::string piece;
  while (line.Take(piece)) {
    EXPECT_LE(piece.size(), Line::kPieceBytes * kLongestEscape);
    all += piece;
  }
  EXPECT_EQ(all.size(), 1 + text.size() * kLongestEscape);
}

TEST(Line, SharedTextIsFreedWithItsLastPart) {
  auto text = Shared(std::string(1000, 'x'));
  const std::weak_ptr<const std::string> watched = text;
  Line line;
  line.Append(text, Escaping::kOnce);
  line.Append(std::move(text), Escaping::kTwice);
  std::string piece;
  while (line.Take(piece)) {
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Line, NoTextIsNoPiece) {
  Line line{std::string()};
  EXPECT_EQ(line.bytes(), 0U);
  std::string piece;
  EXPECT_FALSE(line.Take(piece));
}

}  // namespace
}  // namespace mcp
