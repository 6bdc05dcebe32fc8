// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Detects what a file contains from its bytes; its name is ignored.
namespace files {

/// Without NUL, and control characters that text does not have.
bool IsPlainText(std::string_view bytes);

enum class ContentKind {
  kUtf8,
  kOtherText,  ///< probably text of another encoding
  kBinary,
};

/// Valid UTF-8 is text unless more than a tenth of the bytes are NULs. Other bytes are binary if
/// one is a NUL, or more than a tenth are control characters.
ContentKind Classify(std::string_view bytes);

/// "a ZIP archive", "an ELF program or library", …; "binary data" if the first bytes are unknown.
std::string_view DescribeBinary(std::string_view bytes);

}  // namespace files
