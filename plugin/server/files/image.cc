// SPDX-License-Identifier: Apache-2.0
#include "files/image.h"

#include <algorithm>

#include "files/content_type.h"
#include "support/format.h"
#include "support/regex.h"

namespace files {
namespace {

using namespace std::string_view_literals;

/// What is read of an image's structure.
struct Outline {
  std::uint32_t width = 0;  ///< 0: there is no whole header
  std::uint32_t height = 0;
  bool has_end = false;
};

/// The number in `size` bytes at `at`, the most significant first; 0 beyond the end.
std::uint32_t Big(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  for (const char c : bytes.substr(at, size)) number = number << 8U | static_cast<std::uint8_t>(c);
  return number;
}

std::uint32_t Little(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  std::string turned(bytes.substr(at, size));
  std::ranges::reverse(turned);
  return Big(turned, 0, size);
}

/// PNG specification, section 5: chunks of length, type, data and checksum.
Outline OfPng(std::string_view bytes) {
  constexpr std::size_t kFrame = 12;
  Outline outline;
  if (bytes.substr(8).starts_with("\0\0\0\x0DIHDR"sv) && bytes.size() >= 8 + kFrame + 13)
    outline = {Big(bytes, 16, 4), Big(bytes, 20, 4)};
  for (std::size_t at = 8; bytes.size() - at >= kFrame && !outline.has_end;) {
    const std::size_t size = kFrame + Big(bytes, at, 4);
    if (size > bytes.size() - at) break;
    outline.has_end = bytes.substr(at + 4, 4) == "IEND";
    at += size;
  }
  return outline;
}

/// ITU T.81, annex B: segments up to the scan, in which only the end is "FF D9".
Outline OfJpeg(std::string_view bytes) {
  static const support::Regex frame(R"([\xC0-\xC3\xC5-\xC7\xC9-\xCB\xCD-\xCF])",
                                    support::Regex::kLatin1);
  Outline outline;
  for (std::size_t at = 2; at + 4 <= bytes.size() && bytes[at] == '\xFF';) {
    const std::string_view marker = bytes.substr(at + 1, 1);
    if (marker == "\xFF") {  // padding
      ++at;
      continue;
    }
    if (frame.FullMatch(marker)) outline = {Big(bytes, at + 7, 2), Big(bytes, at + 5, 2)};
    at += 2 + std::max<std::size_t>(Big(bytes, at + 2, 2), 2);
    if (marker == "\xDA") outline.has_end = bytes.find("\xFF\xD9", at) != std::string_view::npos;
    if (marker == "\xDA") break;
  }
  return outline;
}

std::size_t ColourTable(std::string_view bytes, std::size_t flags_at) {
  const std::uint32_t flags = Big(bytes, flags_at, 1);
  return (flags & 0x80U) == 0 ? 0 : std::size_t{3} << ((flags & 7U) + 1);
}

/// GIF89a specification: blocks up to the trailer.
Outline OfGif(std::string_view bytes) {
  constexpr std::size_t kHeader = 13;
  Outline outline = {Little(bytes, 6, 2), Little(bytes, 8, 2)};
  for (std::size_t at = kHeader + ColourTable(bytes, 10); at < bytes.size();) {
    const char kind = bytes[at];
    outline.has_end = kind == ';';
    if (kind == ',') {
      at += 11 + ColourTable(bytes, at + 9);
    } else if (kind == '!') {
      at += 2;
    } else {
      break;
    }
    for (std::uint32_t size = 1; size > 0 && at < bytes.size(); at += 1 + size)
      size = Big(bytes, at, 1);
  }
  return outline;
}

/// RFC 9649.
Outline OfWebp(std::string_view bytes) {
  Outline outline;
  outline.has_end = bytes.size() >= 8 + std::size_t{Little(bytes, 4, 4)};
  const std::string_view chunk = bytes.substr(12, 4);
  if (chunk == "VP8X" && bytes.size() >= 30) {
    outline.width = Little(bytes, 24, 3) + 1;
    outline.height = Little(bytes, 27, 3) + 1;
  } else if (chunk == "VP8L" && bytes.size() >= 25) {
    const std::uint32_t sides = Little(bytes, 21, 4);
    outline.width = (sides & 0x3FFFU) + 1;
    outline.height = (sides >> 14U & 0x3FFFU) + 1;
  } else if (chunk == "VP8 ") {
    outline.width = Little(bytes, 26, 2) & 0x3FFFU;
    outline.height = Little(bytes, 28, 2) & 0x3FFFU;
  }
  return outline;
}

struct Row {
  Image image;
  const char* beginning;
  Outline (*outline)(std::string_view bytes);
};

const Row kRows[] = {{{"PNG", "image/png"}, R"(\x89PNG\r\n\x1A\n)", OfPng},
                     {{"JPEG", "image/jpeg"}, R"(\xFF\xD8\xFF)", OfJpeg},
                     {{"GIF", "image/gif"}, "GIF8[79]a", OfGif},
                     {{"WebP", "image/webp"}, R"((?s)RIFF....WEBP)", OfWebp}};

}  // namespace

std::optional<Image> FindImage(std::string_view bytes) {
  const bool may_be_text = !bytes.empty() && bytes.front() > 0 && IsPlainText(bytes);
  for (const Row& row : kRows) {
    std::string_view rest = bytes;
    if (support::Regex(row.beginning, support::Regex::kLatin1).Consume(rest) && !may_be_text)
      return row.image;
  }
  return std::nullopt;
}

std::string ImageProblem(const Image& image, std::string_view bytes) {
  const auto* const row = std::ranges::find(
      kRows, image.name, [](const Row& candidate) { return candidate.image.name; });
  const Outline outline = row->outline(bytes);
  if (outline.width == 0 || outline.height == 0) return "its header is not complete";
  if (!outline.has_end) return "its end is missing";
  if (std::max(outline.width, outline.height) <= kMaxImageSide) return "";
  return support::Format("it has {} x {} pixels, and models take {} in each direction",
                         outline.width, outline.height, kMaxImageSide);
}

}  // namespace files
