#pragma once

#include <nlohmann/json_fwd.hpp>

namespace commands {

/// `{"tools": […]}`: what `tools/list` serves, without any instance.
nlohmann::json ToolDescriptions();

}  // namespace commands
