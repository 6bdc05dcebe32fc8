#include "report.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string_view>

namespace demo {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kIndent = 10;
constexpr int kWhoColumns = 8;
constexpr int kWhatColumns = 74;
/// Of one result.
constexpr std::size_t kMaxLines = 12;

/// Bytes of UTF-8 that begin a character.
std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Breaks lines that are too long, between words where there are some.
std::vector<std::string> Wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    while (Columns(line) > width) {
      const std::size_t space = line.rfind(' ', width);
      const std::size_t end = space == std::string::npos || space == 0 ? width : space;
      lines.push_back(line.substr(0, end));
      line.erase(0, line[end] == ' ' ? end + 1 : end);
    }
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

void PrintIndented(const std::string& text) {
  std::vector<std::string> lines = Wrapped(text, kColumns - kIndent);
  const std::size_t more = lines.size() > kMaxLines ? lines.size() - kMaxLines + 1 : 0;
  if (more > 0) lines.resize(kMaxLines - 1);
  for (const std::string& line : lines) {
    std::cout << (line.empty() ? "" : std::string(kIndent, ' ')) << line << '\n';
  }
  if (more > 0) std::cout << std::string(kIndent, ' ') << "… and " << more << " more lines\n";
}

std::string Milliseconds(std::chrono::nanoseconds took) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1)
       << std::chrono::duration<double, std::milli>(took).count() << " ms";
  return text.str();
}

}  // namespace

void Report::Say(const std::string& text) const {
  for (const std::string& line : Wrapped(Shortened(text), kColumns)) std::cout << line << '\n';
  std::cout << std::endl;
}

void Report::Add(const Step& step) {
  std::cout << std::left << std::setw(kWhoColumns) << step.who << std::setw(kWhatColumns)
            << Shortened(step.what) << ' '
            << (!step.is_right    ? "FAILED"
                : step.is_refusal ? "refused"
                                  : Milliseconds(step.took))
            << '\n';
  if (step.is_right) {
    PrintIndented(Shortened(step.came));
  } else {
    PrintIndented("expected: " + step.expected);
    PrintIndented("came:     " + (step.came.empty() ? "nothing" : Shortened(step.came)));
  }
  std::cout.flush();
  all_right_ = all_right_ && step.is_right;
}

std::string Report::Shortened(std::string text) const {
  for (const auto& [from, to] : shorter_) {
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

}  // namespace demo
