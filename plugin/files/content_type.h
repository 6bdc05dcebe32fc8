#pragma once

#include <optional>
#include <string_view>

/// What the bytes of a file are, by themselves: names of files say nothing here.
namespace files {

struct ImageType {
  std::string_view name;       ///< "PNG"
  std::string_view mime_type;  ///< "image/png"
};

/// The four kinds of images that clients show, by their first bytes.
std::optional<ImageType> FindImageType(std::string_view bytes);

/// Where in their file bytes stand: only its first ones tell a binary format.
enum class Place { kBeginning, kFurtherOn };

enum class ContentKind {
  kUtf8,       ///< text, byte by byte
  kOtherText,  ///< text of another encoding, as it seems
  kBinary,
};

/// Valid UTF-8 is text, unless more than a tenth of it are NULs. Anything else is binary when it
/// holds a NUL, begins like a well-known binary format, or is made of control characters for more
/// than a tenth.
ContentKind Classify(std::string_view bytes, Place place = Place::kBeginning);

/// "a ZIP archive", "an ELF program", …; "binary data" when the first bytes are not known.
std::string_view DescribeBinary(std::string_view bytes, Place place = Place::kBeginning);

}  // namespace files
