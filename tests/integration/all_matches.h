#pragma once

#include <re2/re2.h>

#include <string>
#include <vector>

namespace integration {

/// The first group of each match.
inline std::vector<std::string> AllMatches(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  re2::StringPiece rest(text);
  std::string group;
  for (const re2::RE2 expression(pattern); re2::RE2::FindAndConsume(&rest, expression, &group);) {
    found.push_back(group);
  }
  return found;
}

}  // namespace integration
