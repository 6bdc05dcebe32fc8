#include "bench/growth.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "bench/process_tree.h"
#include "bench/table.h"
#include "bench/timed_client.h"

namespace bench {
namespace {

constexpr int kCalls = 5;

/// What grows by less than its input, or by this much more: other work on the machine does that.
constexpr double kTolerated = 1.5;

/// What a step may take without being looked at: below this there is more of everything else than
/// of the input.
constexpr double kSmallMilliseconds = 10;
constexpr double kSmallMebibytes = 8;

struct Taken {
  double milliseconds = 0;
  double peak_mebibytes = 0;
};

Taken Measure(const Place& place, const std::string& tool, const GrowthStep& step) {
  TimedClient client(place.server);
  client.Call("list_directory", {{"path", place.directory}});  // connects
  std::vector<double> times;
  for (int i = 0; i < kCalls; ++i) times.push_back(client.Call(tool, step.arguments));
  return {*std::min_element(times.begin(), times.end()), UsageOf(client.pid()).peak_mebibytes};
}

bool GrowsFaster(double before, double after, double small, double input_growth) {
  return after > std::max(before, small) * input_growth * kTolerated;
}

bool MeasureSeries(const Place& place, const GrowthSeries& series) {
  if (series.prepare) series.prepare(place);
  std::cout << '\n'
            << Left(series.work, 34) << Right("ms", 9) << Right("times", 9) << Right("peak MiB", 10)
            << Right("times", 9) << Right("input", 9) << '\n';
  bool good = true;
  std::optional<Taken> before;
  double size_before = 0;
  for (const GrowthStep& step : series.steps) {
    const Taken taken = Measure(place, series.tool, step);
    std::cout << Left("  " + step.amount, 34) << Right(Number(taken.milliseconds), 9);
    if (before) {
      const double input = step.size / size_before;
      const bool time_good =
          !GrowsFaster(before->milliseconds, taken.milliseconds, kSmallMilliseconds, input);
      const bool memory_good =
          !GrowsFaster(before->peak_mebibytes, taken.peak_mebibytes, kSmallMebibytes, input);
      std::cout << Right(Number(taken.milliseconds / before->milliseconds), 9)
                << Right(Number(taken.peak_mebibytes), 10)
                << Right(Number(taken.peak_mebibytes / before->peak_mebibytes), 9)
                << Right(Number(input), 9) << (time_good ? "" : "  TIME GROWS FASTER")
                << (memory_good ? "" : "  MEMORY GROWS FASTER");
      good = good && time_good && memory_good;
    } else {
      std::cout << Right("", 9) << Right(Number(taken.peak_mebibytes), 10);
    }
    std::cout << std::endl;
    before = taken;
    size_before = step.size;
  }
  return good;
}

}  // namespace

bool MeasureGrowth(const Place& place, const std::vector<GrowthSeries>& series) {
  std::cout << "The fastest of " << kCalls << " calls, peak memory of all processes, and how many "
            << "times as much as the step before; instance: " << place.instance << '\n';
  bool good = true;
  for (const GrowthSeries& one : series) good = MeasureSeries(place, one) && good;
  std::cout << (good ? "\nNothing grows faster than its input.\n"
                     : "\nSomething grows faster than its input.\n");
  return good;
}

}  // namespace bench
