#include <cstddef>

#include "bench/growth.h"
#include "bench/sample_text.h"

namespace bench {
namespace {

using nlohmann::json;

constexpr std::size_t kKibibyte = 1024;
constexpr std::size_t kMebibyte = 1024 * kKibibyte;

/// The most that read_file reads at once; above it there are ranges of lines.
constexpr std::size_t kLargestWhole = 32 * kMebibyte;

/// Escaped, and with the rest of the request, it fits into a line, which may have 64 MiB.
constexpr std::size_t kLargestWritten = 48 * kMebibyte;

std::string Name(std::size_t bytes) {
  return bytes < kMebibyte ? std::to_string(bytes / kKibibyte) + " KiB"
                           : std::to_string(bytes / kMebibyte) + " MiB";
}

std::string FileOf(const Place& place, std::size_t bytes) {
  return place.directory + "/growth." + std::to_string(bytes) + ".txt";
}

std::vector<std::size_t> Sizes(std::size_t from, std::size_t to) {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = from; bytes <= to; bytes *= 4) sizes.push_back(bytes);
  if (sizes.back() != to) sizes.push_back(to);
  return sizes;
}

GrowthSeries Series(const std::string& work, const std::string& tool,
                    const std::vector<std::size_t>& sizes,
                    const std::function<json(std::size_t)>& arguments) {
  GrowthSeries series{work, tool, {}, {}};
  for (const std::size_t bytes : sizes) {
    series.steps.push_back({Name(bytes), static_cast<double>(bytes), arguments(bytes)});
  }
  return series;
}

}  // namespace

std::vector<GrowthSeries> FileGrowth(const Place& place) {
  const auto read_whole = [&](std::size_t bytes) { return json{{"path", FileOf(place, bytes)}}; };
  // Lines of 64 bytes. Those before the wanted ones have to be read, too.
  const auto read_end = [&](std::size_t bytes) {
    return json{{"path", FileOf(place, bytes)}, {"offset", bytes / 64 - 10}, {"limit", 10}};
  };
  const auto read_beginning = [&](std::size_t bytes) {
    return json{{"path", FileOf(place, bytes)}, {"offset", 0}, {"limit", 10}};
  };
  const auto write = [&](std::size_t bytes) {
    return json{{"path", place.directory + "/growth.written.txt"}, {"content", SampleText(bytes)}};
  };
  const std::vector<std::size_t> whole_sizes = Sizes(kKibibyte, kLargestWhole);
  const std::vector<std::size_t> all = Sizes(kKibibyte, 256 * kMebibyte);
  GrowthSeries whole = Series("read_file", "read_file", whole_sizes, read_whole);
  std::vector<std::size_t> files = all;
  files.push_back(kLargestWhole);
  whole.prepare = [files](const Place& where) {
    for (const std::size_t bytes : files) {
      Prepare(where,
              "yes 'a line of text, \"quoted\", which has 64 bytes with its line end.' | head -c " +
                  std::to_string(bytes) + " > " + FileOf(where, bytes));
    }
  };
  return {whole, Series("read_file, the last ten lines", "read_file", all, read_end),
          Series("read_file, the first ten lines", "read_file", all, read_beginning),
          Series("write_file", "write_file", Sizes(kKibibyte, kLargestWritten), write)};
}

}  // namespace bench
