#include "shell/report_splitter.h"

#include <algorithm>
#include <utility>

namespace shell {
namespace {

/// A longer line is no report.
constexpr std::size_t kMaxReport = 40;

/// How many of the last bytes may be the beginning of `marker`.
std::size_t PossibleBeginning(std::string_view bytes, std::string_view marker) {
  std::size_t length = std::min(bytes.size(), marker.size() - 1);
  while (!bytes.ends_with(marker.substr(0, length))) --length;
  return length;
}

}  // namespace

void ReportSplitter::Feed(std::string_view bytes, const Callback& on_output,
                          const Callback& on_report) {
  if (held_.empty()) {
    held_ = Split(bytes, on_output, on_report);
    return;
  }
  const std::string joined = std::exchange(held_, {}).append(bytes);
  held_ = Split(joined, on_output, on_report);
}

std::string_view ReportSplitter::Split(std::string_view bytes, const Callback& on_output,
                                       const Callback& on_report) {
  while (true) {
    const std::size_t at = bytes.find(marker_);
    if (at == std::string_view::npos) {
      const std::size_t own = bytes.size() - PossibleBeginning(bytes, marker_);
      if (own > 0) on_output(bytes.substr(0, own));
      return bytes.substr(own);
    }
    if (at > 0) on_output(bytes.substr(0, at));
    bytes.remove_prefix(at);
    const std::size_t end = bytes.substr(0, marker_.size() + kMaxReport).find('\n');
    if (end != std::string_view::npos) {
      std::string_view words = bytes.substr(marker_.size(), end - marker_.size());
      if (words.starts_with(' ')) words.remove_prefix(1);
      on_report(words);
      bytes.remove_prefix(end + 1);
    } else if (bytes.size() >= marker_.size() + kMaxReport) {
      bytes.remove_prefix(marker_.size());
    } else {
      return bytes;
    }
  }
}

void ReportSplitter::Finish(const Callback& on_output) {
  if (!held_.empty()) on_output(held_);
  held_.clear();
}

}  // namespace shell
