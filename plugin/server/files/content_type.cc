// SPDX-License-Identifier: Apache-2.0
#include "files/content_type.h"

#include <algorithm>
#include <array>

#include "support/utf8.h"

namespace files {
namespace {

using namespace std::string_view_literals;

// Text may have one NUL or unusual control character in this many bytes.
constexpr std::ptrdiff_t kTolerated = 10;

struct Magic {
  std::string_view beginning;
  std::string_view description;
};

constexpr std::array kMagics = {
    Magic{"%PDF-"sv, "a PDF document"},
    Magic{"PK\x03\x04"sv, "a ZIP archive"},
    Magic{"PK\x05\x06"sv, "a ZIP archive"},
    Magic{"\x1F\x8B"sv, "gzip data"},
    Magic{"BZh"sv, "bzip2 data"},
    Magic{"\3757zXZ\0"sv, "xz data"},
    Magic{"\x28\xB5\x2F\xFD"sv, "Zstandard data"},
    Magic{"7z\xBC\xAF\x27\x1C"sv, "a 7z archive"},
    Magic{"\177ELF"sv, "an ELF program or library"},
    Magic{"\xCF\xFA\xED\xFE"sv, "a Mach-O program or library"},
    Magic{"\xCA\xFE\xBA\xBE"sv, "a Java class or a universal Mach-O program"},
    Magic{"MZ"sv, "a Windows program"},
    Magic{"\0asm"sv, "a WebAssembly module"},
    Magic{"SQLite format 3\0"sv, "an SQLite database"},
    Magic{"\xFF\xFE"sv, "UTF-16 text"},
    Magic{"\xFE\xFF"sv, "UTF-16 text"},
    Magic{"OggS"sv, "Ogg data"},
    Magic{"ID3"sv, "an MP3 file"},
    Magic{"\x89PNG"sv, "a PNG image"},
    Magic{"\xFF\xD8\xFF"sv, "a JPEG image"},
};

bool IsUnusualControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool usual = (byte >= '\b' && byte <= '\r') || byte == 0x1B;  // white space, ESC
  return (byte < 0x20 && !usual) || byte == 0x7F;
}

}  // namespace

bool IsPlainText(std::string_view bytes) {
  return std::ranges::none_of(bytes, IsUnusualControl);
}

ContentKind Classify(std::string_view bytes) {
  const auto length = static_cast<std::ptrdiff_t>(bytes.size());
  // Most files have no NUL, and find() is faster than count().
  const bool has_nul = bytes.find('\0') != std::string_view::npos;
  const std::ptrdiff_t nuls = has_nul ? std::count(bytes.begin(), bytes.end(), '\0') : 0;
  if (support::IsValidUtf8(bytes)) {
    return nuls * kTolerated > length ? ContentKind::kBinary : ContentKind::kUtf8;
  }
  if (nuls > 0) return ContentKind::kBinary;
  const std::ptrdiff_t controls = std::count_if(bytes.begin(), bytes.end(), IsUnusualControl);
  return controls * kTolerated > length ? ContentKind::kBinary : ContentKind::kOtherText;
}

std::string_view DescribeBinary(std::string_view bytes) {
  for (const Magic& magic : kMagics) {
    if (bytes.starts_with(magic.beginning)) return magic.description;
  }
  return "binary data";
}

}  // namespace files
