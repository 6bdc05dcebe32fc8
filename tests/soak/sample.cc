#include "soak/sample.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace soak {

Sample SampleOf(pid_t server) {
  const std::filesystem::path directory = "/proc/" + std::to_string(server);
  Sample sample;
  std::ifstream status(directory / "status");
  for (std::string line; std::getline(status, line);) {
    const auto number = [&] { return std::stod(line.substr(line.find(':') + 1)); };
    if (line.starts_with("VmRSS:")) sample.mebibytes = number() / 1024;
    if (line.starts_with("Threads:")) sample.threads = number();
  }
  std::error_code error;
  const std::filesystem::directory_iterator open(directory / "fd", error);
  sample.descriptors = static_cast<double>(std::distance(begin(open), end(open)));
  return sample;
}

double MedianOf(const std::vector<Sample>& samples, double Sample::*figure, double begin,
                double end) {
  const auto at = [&](double share) {
    return static_cast<std::size_t>(share * static_cast<double>(samples.size()));
  };
  std::vector<double> values;
  for (std::size_t i = at(begin); i < at(end); ++i) values.push_back(samples[i].*figure);
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace soak
