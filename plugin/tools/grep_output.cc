#include "tools/grep_output.h"

#include <algorithm>
#include <utility>

namespace tools {
namespace {

/// "name" of "name:12:text".
std::string_view FileName(std::string_view line) {
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    const std::size_t end = line.find_first_not_of("0123456789", colon + 1);
    if (end != std::string_view::npos && end > colon + 1 && line[end] == ':') {
      return line.substr(0, colon);
    }
  }
  return line;
}

}  // namespace

void GrepOutput::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    line_ += piece.substr(0, kMaximumGrepLine - line_.size());
    line_bytes_ += piece.size();
    if (newline == std::string_view::npos) return;
    bytes.remove_prefix(newline + 1);
    EndLine();
  }
}

void GrepOutput::EndLine() {
  if (const std::string_view file = FileName(line_); lines_ == 0 || file != file_) {
    ++files_;
    file_ = file;
  }
  if (line_bytes_ > line_.size()) {
    line_ += "… [" + std::to_string(line_bytes_ - line_.size()) + " bytes left out]";
  }
  const bool nothing_left_out_yet = kept_lines_ == lines_;
  if (nothing_left_out_yet && kept_.size() + line_.size() + 1 <= maximum_bytes_) {
    kept_ += line_;
    kept_ += '\n';
    ++kept_lines_;
  }
  ++lines_;
  line_.clear();
  line_bytes_ = 0;
}

std::string GrepOutput::Finish() {
  if (line_bytes_ > 0) EndLine();
  if (kept_lines_ < lines_) {
    kept_ += "[Only the first " + std::to_string(kept_lines_) + " of " + std::to_string(lines_) +
             " matching lines, in " + std::to_string(files_) +
             " files, are shown. Narrow the search with a path, an include or a longer pattern.]\n";
  }
  return std::move(kept_);
}

}  // namespace tools
