#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/place.h"

/// How time and memory grow with the work: one kind of call, on more and more of something.
namespace bench {

struct GrowthStep {
  std::string amount;  ///< as it is shown: "16 MiB"
  double size = 0;     ///< in any unit that all steps of a series share
  nlohmann::json arguments;
};

struct GrowthSeries {
  std::string work;  ///< "read_file, whole"
  std::string tool;
  std::vector<GrowthStep> steps;              ///< in the order of their sizes
  std::function<void(const Place&)> prepare;  ///< makes in the guest what all the steps need
};

/// read_file and write_file, 1 KiB to 256 MiB as far as the limits go.
std::vector<GrowthSeries> FileGrowth(const Place& place);

/// Directories of 10 to 100,000 entries, listed and written in, and trees of 100 to 100,000 files,
/// looked through by name and by content.
std::vector<GrowthSeries> TreeGrowth(const Place& place);

/// Measures each step with a server of its own and prints the tables. False when something grows
/// faster than its input: when a step takes more than 1.5 times as much time or memory, for each
/// unit of its size, as the step before it.
bool MeasureGrowth(const Place& place, const std::vector<GrowthSeries>& series);

}  // namespace bench
