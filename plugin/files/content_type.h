#pragma once

#include <optional>
#include <string_view>

/// What the bytes of a file are. The file's name does not count.
namespace files {

struct ImageType {
  std::string_view name;       ///< "PNG"
  std::string_view mime_type;  ///< "image/png"
};

/// One of the four kinds of images that clients show, by the first bytes.
std::optional<ImageType> FindImageType(std::string_view bytes);

enum class ContentKind {
  kUtf8,
  kOtherText,  ///< probably text of another encoding
  kBinary,
};

/// Valid UTF-8 is text unless more than a tenth of it are NULs. Other bytes are binary if they
/// contain a NUL, or are control characters for more than a tenth.
ContentKind Classify(std::string_view bytes);

/// "a ZIP archive", "an ELF program or library", …; "binary data" if the first bytes are unknown.
std::string_view DescribeBinary(std::string_view bytes);

}  // namespace files
