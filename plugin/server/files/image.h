// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Images that clients can show: PNG, JPEG, GIF, WebP. A model's API refuses a whole session if one
/// is damaged or too large.
namespace files {

struct Image {
  std::string_view name;       ///< "PNG"
  std::string_view mime_type;  ///< "image/png"
};

/// By the first bytes; nullopt for anything else, such as text that begins like an image.
std::optional<Image> FindImage(std::string_view bytes);

/// The most pixels that models take in each direction.
inline constexpr std::uint32_t kMaxImageSide = 8000;

/// Why models do not take the whole file of an image; empty if they do: "has no end (IEND)".
std::string ImageProblem(const Image& image, std::string_view bytes);

}  // namespace files
