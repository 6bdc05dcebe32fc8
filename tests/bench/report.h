#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/statistics.h"

namespace bench {

/// One line of the table: what was measured, beside what, and what it should be.
struct Row {
  std::string work;
  Summary ours;
  std::string reference_name;        ///< empty: there is nothing to compare with
  std::optional<Summary> reference;  ///< of the same run

  /// The most that the median of `ours` may be, in milliseconds of this run: a multiple of what a
  /// reference took in it.
  double aim = 0;
};

/// A figure with a fixed aim: memory, threads.
struct Limit {
  std::string what;
  std::string unit;
  double value = 0;
  double aim = 0;
};

struct Report {
  std::string instance;
  /// A command in a login shell over ssh with a shared connection, in milliseconds: moves with the
  /// machine as everything here does.
  double anchor = 0;
  std::vector<Row> rows;
  std::vector<Limit> limits;
};

[[nodiscard]] bool AllReached(const Report& report);

void PrintTable(const Report& report);
void WriteJson(const Report& report, const std::filesystem::path& file);

/// A bar chart of the rows that have a reference.
void WriteChart(const Report& report, const std::filesystem::path& file);

}  // namespace bench
