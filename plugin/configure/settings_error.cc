#include "configure/settings_error.h"

#include "configure/text_form.h"

namespace configure {

Position PositionAt(std::string_view text, std::size_t offset) {
  Position position;
  for (std::size_t i = ByteOrderMarkSize(text); i < offset && i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      ++position.line;
      position.column = 1;
    } else if ((byte & 0xC0U) != 0x80U) {  // not the middle of a UTF-8 character
      ++position.column;
    }
  }
  return position;
}

}  // namespace configure
