#pragma once

#include <cstddef>
#include <vector>

namespace bench {

/// Times in milliseconds.
struct Summary {
  double median = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
  std::size_t samples = 0;
};

/// `samples` must not be empty.
Summary Summarize(std::vector<double> samples);

}  // namespace bench
