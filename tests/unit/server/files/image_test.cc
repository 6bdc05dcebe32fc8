// SPDX-License-Identifier: Apache-2.0
#include "files/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace files {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

std::string Big(std::uint32_t number) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    bytes += static_cast<char>(number >> shift & 0xFFU);
  return bytes;
}

std::string Chunk(const std::string& type, const std::string& data) {
  return Big(static_cast<std::uint32_t>(data.size())) + type + data + "CRC_";
}

std::string Png(std::uint32_t width, std::uint32_t height) {
  return "\x89PNG\r\n\x1A\n" + Chunk("IHDR", Big(width) + Big(height) + "\x08\x02\0\0\0"s) +
         Chunk("IDAT", "IEND") + Chunk("IEND", "");
}

/// With a thumbnail that has an end of its own, as photographs do.
std::string Jpeg(std::uint32_t width, std::uint32_t height) {
  return "\xFF\xD8\xFF\xE1\0\x08"s + "ab\xFF\xD9 c" + "\xFF\xFF\xC2\0\x0B\x08"s +
         Big(height << 16U | width) + "\x01\x01\x11\0"s + "\xFF\xDA\0\x08\x01\x01\0\0\x3F\0"s +
         "scan\xFF\0"s + "\xFF\xD9";
}

std::string Gif(char width, char height) {
  return "GIF89a"s + width + "\0"s + height + "\0\x80\0\0"s + "\0\0\0\xFF\xFF\xFF"s +
         "!\xF9\x04\0\0\0\0\0"s + ",\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0"s + ";";
}

std::string Webp(const std::string& chunk) {
  const auto size = static_cast<char>(chunk.size() + 4);
  return "RIFF"s + size + "\0\0\0WEBP"s + chunk;
}

const std::string kLossy = "VP8 \x0A\0\0\0\x30\x01\0\x9D\x01\x2A\x10\0\x20\0"s;
const std::string kLossless = "VP8L\x0A\0\0\0\x2F\x0F\xC0\x07\0\0\0\0\0\0"s;
const std::string kExtended = "VP8X\x0A\0\0\0\0\0\0\0\x0F\0\0\x1F\0\0"s;

std::string Problem(const std::string& bytes) {
  const auto image = FindImage(bytes);
  return image ? ImageProblem(*image, bytes) : "no image";
}

TEST(Image, IsKnownByItsFirstBytes) {
  EXPECT_EQ(FindImage(Png(1, 1))->mime_type, "image/png");
  EXPECT_EQ(FindImage(Jpeg(1, 1))->mime_type, "image/jpeg");
  EXPECT_EQ(FindImage(Gif(1, 1))->mime_type, "image/gif");
  EXPECT_EQ(FindImage(Webp(kLossy))->mime_type, "image/webp");
  for (const std::string& bytes :
       {"RIFF1234WAVE\0"s, "RIFF\0"s, "\x89PNG"s, ""s, "GIF89a is a format\n"s, "GIF87a"s,
        "RIFFxxxxWEBP is another\n"s, "RIFF\n\n\n\nWEBP"s}) {
    EXPECT_FALSE(FindImage(bytes)) << bytes;
  }
}

TEST(Image, IsTakenIfItIsWhole) {
  for (const std::string& image :
       {Png(8000, 1), Jpeg(1, 8000), Gif(1, 1), Webp(kLossy), Webp(kLossless), Webp(kExtended)}) {
    EXPECT_EQ(Problem(image), "") << image;
    EXPECT_EQ(Problem(image + "\0more"s), "") << image;
    for (std::size_t size = 1; size < image.size(); ++size) {
      if (!FindImage(image.substr(0, size))) continue;
      EXPECT_THAT(Problem(image.substr(0, size)), HasSubstr("its ")) << size;
    }
  }
  EXPECT_THAT(Problem("\x89PNG\r\n\x1A\n"), HasSubstr("header"));
  EXPECT_THAT(Problem("\xFF\xD8\xFF"), HasSubstr("header"));
  EXPECT_THAT(Problem(Png(0, 1)), HasSubstr("header"));
}

TEST(Image, HasSidesThatModelsTake) {
  EXPECT_THAT(Problem(Png(12'000, 12'000)), HasSubstr("12000 x 12000 pixels"));
  EXPECT_THAT(Problem(Png(8001, 1)), HasSubstr("8001 x 1"));
  EXPECT_THAT(Problem(Jpeg(20'000, 1)), HasSubstr("20000 x 1"));
  EXPECT_THAT(Problem("GIF89a\x41\x1F\x01\0\0\0\0;"s), HasSubstr("8001 x 1"));
  EXPECT_THAT(Problem(Webp("VP8X\x0A\0\0\0\0\0\0\0\x40\x1F\0\0\0\0"s)), HasSubstr("8001 x 1"));
}

}  // namespace
}  // namespace files
