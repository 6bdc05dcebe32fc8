// SPDX-License-Identifier: Apache-2.0
#include "commands/documents/markdown.h"

#include <sstream>

#include "support/regex.h"

namespace commands {

std::vector<Block> ParseMarkdown(const std::string& markdown) {
  static const support::Regex item("- `(.*?)`: (.*)");
  static const support::Regex heading("## (.*)");
  static const support::Regex indented("  (.*)");
  static const support::Regex left_out("(?:# |<!--).*|");
  std::vector<Block> blocks;
  std::istringstream lines(markdown);
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    Block block;
    if (line.starts_with("```")) {
      is_code = !is_code;
      continue;
    }
    if (is_code) {
      block = {Block::Kind::kCode, "", line};
    } else if (left_out.FullMatch(line)) {
      continue;
    } else if (item.FullMatch(line, &block.term, &block.text)) {
      block.kind = Block::Kind::kItem;
    } else if (heading.FullMatch(line, &block.text)) {
      block.kind = Block::Kind::kHeading;
    } else if (indented.FullMatch(line, &block.text)) {
      block.kind = Block::Kind::kIndented;
    } else {
      block.text = line;
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace commands
