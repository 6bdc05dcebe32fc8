// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace commands {

/// A line of Markdown as reference.cc writes it: each paragraph, item and command is one line.
struct Block {
  enum class Kind : std::uint8_t { kHeading, kCode, kItem, kIndented, kText };

  Kind kind = Kind::kText;
  std::string term = {};  ///< of an item
  std::string text = {};
};

/// Leaves out the title and comments.
std::vector<Block> ParseMarkdown(const std::string& markdown);

}  // namespace commands
