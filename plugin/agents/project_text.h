#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace agents {

/// The most that is read of a project's instructions for the model.
inline constexpr std::size_t kMaximumProjectText = std::size_t{256} * 1024;

/// The text of the file `name` at the top of the project, cut after kMaximumProjectText. Empty if
/// it is not a regular file: a link may lead to a file that the guest must not see. Bytes that are
/// not UTF-8 are replaced.
std::optional<std::string> ReadProjectText(const std::string& project, std::string_view name);

/// The project's instructions for the model, one file after the other under its name; what those
/// files include is not read. Empty if there are none.
std::string ProjectInstructions(const std::string& project,
                                std::span<const std::string_view> names);

}  // namespace agents
