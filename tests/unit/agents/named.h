#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "agents/agent.h"

namespace agents {

inline const Agent& Named(std::string_view name) {
  for (const Agent& agent : Agents()) {
    if (agent.name == name) return agent;
  }
  throw std::invalid_argument(std::string(name));
}

}  // namespace agents
