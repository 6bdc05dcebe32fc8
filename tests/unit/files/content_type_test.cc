#include "files/content_type.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace files {
namespace {

using namespace std::string_literals;

TEST(ContentType, IsTextUnlessNulsOrControlCharactersAreManyOrNoneOfItsEncoding) {
  const std::vector<std::pair<std::string, ContentKind>> cases = {
      {"", ContentKind::kUtf8},
      {"text\r\n", ContentKind::kUtf8},
      {"\uFEFFbom \u20ac \U0001F600", ContentKind::kUtf8},
      {"%PDF- in the words of a text", ContentKind::kUtf8},
      {"nine char\0"s, ContentKind::kUtf8},
      {"eight ch\0"s, ContentKind::kBinary},
      {std::string(100, '\0'), ContentKind::kBinary},
      {"caf\xE9 au lait", ContentKind::kOtherText},
      {"some text and \xFF and \0"s, ContentKind::kBinary},
      {"\x01\x02\x03\xFF", ContentKind::kBinary},
      {"\x1F\x8B\xFF", ContentKind::kBinary}};
  for (const auto& [bytes, kind] : cases) EXPECT_EQ(Classify(bytes), kind) << bytes;
}

TEST(ContentType, WellKnownFormatsAreNamed) {
  EXPECT_EQ(DescribeBinary("PK\x03\x04rest"), "a ZIP archive");
  EXPECT_EQ(DescribeBinary("\x7F"
                           "ELF"),
            "an ELF program or library");
  EXPECT_EQ(DescribeBinary("\xFF\xFEh"s), "UTF-16 text");
  EXPECT_EQ(DescribeBinary("\x01\x02"), "binary data");
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
