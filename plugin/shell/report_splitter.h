#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace shell {

/// Separates the output of a command from the reports of its resident shell (resident_script.h),
/// wherever the stream is cut into pieces. Holds back only bytes that may belong to a report. One
/// thread at a time.
class ReportSplitter {
 public:
  using Callback = std::function<void(std::string_view)>;

  explicit ReportSplitter(std::string marker) : marker_(std::move(marker)) {}

  /// Calls `on_output`, and `on_report` with the words behind the marker, in order.
  void Feed(std::string_view bytes, const Callback& on_output, const Callback& on_report);

  /// The stream has ended: what was held back is output.
  void Finish(const Callback& on_output);

 private:
  /// Returns the rest that depends on later bytes.
  std::string_view Split(std::string_view bytes, const Callback& on_output,
                         const Callback& on_report);

  std::string marker_;
  std::string held_;
};

}  // namespace shell
