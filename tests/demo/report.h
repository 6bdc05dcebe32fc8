#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace demo {

/// Prints the demo: who does what, with the result below it. No line is longer than 100 columns.
class Report {
 public:
  struct Step {
    std::string who;   ///< "agent" or "you"
    std::string what;  ///< the call or the command
    std::chrono::nanoseconds took;
    bool is_refusal = false;
    std::string came;
    std::string expected;  ///< in words, for a step that fails
    bool is_right;
  };

  /// From now on `to` is printed for `from`.
  void Shorten(const std::string& from, const std::string& to) {
    shorter_.insert(shorter_.begin(), {from, to});
  }

  /// A paragraph.
  void Say(const std::string& text) const;
  void Add(const Step& step);

  [[nodiscard]] bool all_right() const { return all_right_; }

 private:
  [[nodiscard]] std::string Shortened(std::string text) const;

  std::vector<std::pair<std::string, std::string>> shorter_;
  bool all_right_ = true;
};

}  // namespace demo
