#include "bench/report.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "bench/table.h"

namespace bench {
namespace {

using nlohmann::json;

std::string Spread(const Summary& summary) {
  return Number(summary.lower_quartile) + "–" + Number(summary.upper_quartile);
}

json ToJson(const Summary& summary) {
  return {{"median_ms", summary.median},
          {"lower_quartile_ms", summary.lower_quartile},
          {"upper_quartile_ms", summary.upper_quartile},
          {"samples", summary.samples}};
}

void WriteFile(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

std::string EscapeXml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

bool AllReached(const Report& report) {
  return std::all_of(report.rows.begin(), report.rows.end(),
                     [](const Row& row) { return row.ours.median <= row.aim; }) &&
         std::all_of(report.limits.begin(), report.limits.end(),
                     [](const Limit& limit) { return limit.value <= limit.aim; });
}

void PrintTable(const Report& report) {
  std::cout << "\nMilliseconds, medians and middle halves; instance: " << report.instance << "\n\n"
            << Left("work", 36) << Right("ours", 9) << Right("", 14) << Right("aim", 9)
            << Right("", 9) << Right("reference", 11) << Right("", 14) << "\n";
  for (const Row& row : report.rows) {
    std::cout << Left(row.work, 36) << Right(Number(row.ours.median), 9)
              << Right(Spread(row.ours), 14) << Right(Number(row.aim), 9)
              << Right(row.ours.median <= row.aim ? "reached" : "MISSED", 9);
    if (row.reference) {
      std::cout << Right(Number(row.reference->median), 11) << Right(Spread(*row.reference), 14)
                << "  " << row.reference_name << ", ratio "
                << Number(row.ours.median / row.reference->median);
    }
    std::cout << '\n';
  }
  std::cout << '\n';
  for (const Limit& limit : report.limits) {
    std::cout << Left(limit.what, 36) << Right(Number(limit.value), 9) << " " << limit.unit
              << ", aim " << Number(limit.aim)
              << (limit.value <= limit.aim ? "  reached" : "  MISSED") << '\n';
  }
  std::cout << "\nA command in a login shell over ssh with a shared connection took "
            << Number(report.anchor) << " ms: aims without a reference are multiples of it.\n";
}

void WriteJson(const Report& report, const std::filesystem::path& file) {
  json rows = json::array();
  for (const Row& row : report.rows) {
    json entry = {{"work", row.work}, {"ours", ToJson(row.ours)}, {"aim_ms", row.aim}};
    if (row.reference) {
      entry["reference"] = ToJson(*row.reference);
      entry["reference"]["name"] = row.reference_name;
    }
    rows.push_back(std::move(entry));
  }
  json limits = json::array();
  for (const Limit& limit : report.limits) {
    limits.push_back(
        {{"what", limit.what}, {"unit", limit.unit}, {"value", limit.value}, {"aim", limit.aim}});
  }
  const json all = {{"instance", report.instance},
                    {"anchor_ms", report.anchor},
                    {"rows", rows},
                    {"limits", limits}};
  WriteFile(file, all.dump(2) + "\n");
}

void WriteChart(const Report& report, const std::filesystem::path& file) {
  constexpr int kLabels = 330;
  constexpr int kBars = 360;
  constexpr int kRowHeight = 46;
  constexpr double kLongest = 2.0;  // longer bars are cut there
  std::vector<Row> rows;
  std::copy_if(report.rows.begin(), report.rows.end(), std::back_inserter(rows),
               [](const Row& row) { return row.reference.has_value(); });
  const int height = 40 + kRowHeight * static_cast<int>(rows.size());
  const auto bar = [&](double share) {
    return static_cast<int>(std::min(share, kLongest) / kLongest * kBars);
  };

  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kLabels + kBars + 110
      << "\" height=\"" << height << "\" font-family=\"sans-serif\" font-size=\"13\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << "<text x=\"10\" y=\"22\" font-weight=\"bold\">limactl-mcp beside the usual tools "
         "(shorter is better)</text>\n";
  int y = 40;
  for (const Row& row : rows) {
    const double ratio = row.ours.median / row.reference->median;
    svg << "<text x=\"" << kLabels - 10 << "\" y=\"" << y + 14 << "\" text-anchor=\"end\">"
        << EscapeXml(row.work) << "</text>\n"
        << "<rect x=\"" << kLabels << "\" y=\"" << y + 3 << "\" width=\"" << std::max(bar(ratio), 2)
        << "\" height=\"14\" fill=\"#2a7f62\"/>\n"
        << "<text x=\"" << kLabels + std::max(bar(ratio), 2) + 6 << "\" y=\"" << y + 14 << "\">"
        << Number(row.ours.median) << " ms</text>\n"
        << "<rect x=\"" << kLabels << "\" y=\"" << y + 20 << "\" width=\"" << bar(1)
        << "\" height=\"14\" fill=\"#bbbbbb\"/>\n"
        << "<text x=\"" << kLabels + bar(1) + 6 << "\" y=\"" << y + 31 << "\">"
        << Number(row.reference->median) << " ms " << EscapeXml(row.reference_name) << "</text>\n";
    y += kRowHeight;
  }
  svg << "</svg>\n";
  WriteFile(file, svg.str());
}

}  // namespace bench
