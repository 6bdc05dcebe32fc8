#include "files/content_type.h"

#include <gtest/gtest.h>

#include <string>

namespace files {
namespace {

using namespace std::string_literals;

TEST(ContentType, ValidUtf8IsText) {
  EXPECT_EQ(Classify(""), ContentKind::kUtf8);
  EXPECT_EQ(Classify("text\r\n"), ContentKind::kUtf8);
  EXPECT_EQ(Classify("\xEF\xBB\xBF"
                     "bom \u20ac \U0001F600"),
            ContentKind::kUtf8);
  EXPECT_EQ(Classify("%PDF- in the words of a text"), ContentKind::kUtf8);
}

TEST(ContentType, FewNulsInUtf8AreText) {
  EXPECT_EQ(Classify("nine char"s + '\0'), ContentKind::kUtf8);
  EXPECT_EQ(Classify("eight ch"s + '\0'), ContentKind::kBinary);
  EXPECT_EQ(Classify(std::string(100, '\0')), ContentKind::kBinary);
}

TEST(ContentType, Latin1IsTextOfAnotherEncoding) {
  EXPECT_EQ(Classify("caf\xE9 au lait"), ContentKind::kOtherText);
}

TEST(ContentType, BadUtf8WithANulIsBinary) {
  EXPECT_EQ(Classify("some text and \xFF and "s + '\0'), ContentKind::kBinary);
}

TEST(ContentType, BadUtf8FullOfControlCharactersIsBinary) {
  EXPECT_EQ(Classify("\x01\x02\x03\xFF"), ContentKind::kBinary);
}

TEST(ContentType, WellKnownFormatsAreNamed) {
  EXPECT_EQ(DescribeBinary("PK\x03\x04rest"), "a ZIP archive");
  EXPECT_EQ(DescribeBinary("\x7F"
                           "ELF"),
            "an ELF program or library");
  EXPECT_EQ(DescribeBinary("\xFF\xFEh"s), "UTF-16 text");
  EXPECT_EQ(DescribeBinary("\x01\x02"), "binary data");
  EXPECT_EQ(Classify("\x1F\x8B\xFF"), ContentKind::kBinary);
}

TEST(ContentType, ImagesAreKnownByTheirFirstBytes) {
  EXPECT_EQ(FindImageType("\x89PNG\r\n\x1A\nrest")->mime_type, "image/png");
  EXPECT_EQ(FindImageType("\xFF\xD8\xFF\xE0")->mime_type, "image/jpeg");
  EXPECT_EQ(FindImageType("GIF89a...")->mime_type, "image/gif");
  EXPECT_EQ(FindImageType("GIF87a...")->mime_type, "image/gif");
  EXPECT_EQ(FindImageType("RIFF1234WEBPVP8 ")->mime_type, "image/webp");
  EXPECT_FALSE(FindImageType("RIFF1234WAVE"));
  EXPECT_FALSE(FindImageType("RIFF"));
  EXPECT_FALSE(FindImageType("\x89PNG"));
}

}  // namespace
}  // namespace files
