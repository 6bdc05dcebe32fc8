#include "soak/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace soak {
namespace {

constexpr int kWidth = 760;
constexpr int kLeft = 60;
constexpr int kPanelHeight = 110;
constexpr int kGap = 34;
constexpr int kTop = 40;

struct Panel {
  const char* title;
  double Sample::*figure;
};
constexpr std::array<Panel, 4> kPanels = {{
    {"resident memory of the largest server, MiB", &Sample::mebibytes},
    {"its open descriptors", &Sample::descriptors},
    {"its threads", &Sample::threads},
    {"processes in the guest", &Sample::guest_processes},
}};

int Across(std::uint64_t calls, std::uint64_t most) {
  return kLeft +
         static_cast<int>(std::lround(static_cast<double>(calls) /
                                      static_cast<double>(std::max<std::uint64_t>(most, 1)) *
                                      (kWidth - kLeft - 20)));
}

}  // namespace

void WriteChart(const std::vector<Sample>& samples, const std::vector<std::uint64_t>& faults,
                const std::filesystem::path& file) {
  const std::uint64_t calls = samples.empty() ? 0 : samples.back().calls;
  const int height = kTop + static_cast<int>(kPanels.size()) * (kPanelHeight + kGap);
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kWidth << "\" height=\"" << height
      << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << "<text x=\"10\" y=\"22\" font-size=\"13\" font-weight=\"bold\">" << calls
      << " mixed calls, " << faults.size() << " faults (marks)</text>\n";
  int bottom = kTop;
  for (const Panel& panel : kPanels) {
    bottom += kPanelHeight + kGap;
    double most = 1;
    for (const Sample& sample : samples) most = std::max(most, sample.*panel.figure);
    svg << "<text x=\"" << kLeft << "\" y=\"" << bottom - kPanelHeight - kGap + 14 << "\">"
        << panel.title << "</text>\n<text x=\"" << kLeft - 6 << "\" y=\""
        << bottom - kGap - kPanelHeight + 26 << "\" text-anchor=\"end\">" << std::lround(most)
        << "</text>\n<text x=\"" << kLeft - 6 << "\" y=\"" << bottom - kGap
        << "\" text-anchor=\"end\">0</text>\n<path d=\"M" << kLeft << ' ' << bottom - kGap << " H"
        << kWidth - 20 << "\" stroke=\"#999999\"/>\n";
    for (const std::uint64_t fault : faults) {
      svg << "<path d=\"M" << Across(fault, calls) << ' ' << bottom - kGap
          << " v6\" stroke=\"#b03030\"/>\n";
    }
    svg << "<polyline fill=\"none\" stroke=\"#2a7f62\" points=\"";
    for (const Sample& sample : samples) {
      svg << Across(sample.calls, calls) << ','
          << bottom - kGap -
                 static_cast<int>(std::lround(sample.*panel.figure / most * (kPanelHeight - 20)))
          << ' ';
    }
    svg << "\"/>\n";
  }
  svg << "</svg>\n";
  std::ofstream out(file);
  out << svg.str();
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace soak
