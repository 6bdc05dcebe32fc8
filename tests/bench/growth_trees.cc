#include <cstddef>

#include "bench/growth.h"

namespace bench {
namespace {

using nlohmann::json;

/// Names that one command line of the guest's xargs makes.
constexpr std::size_t kFilesOfADirectory = 100;

std::string DirectoryOf(const Place& place, std::size_t entries) {
  return place.directory + "/growth.list." + std::to_string(entries);
}

std::string TreeOf(const Place& place, std::size_t files) {
  return place.directory + "/growth.tree." + std::to_string(files);
}

std::vector<std::size_t> Counts(std::size_t from) {
  std::vector<std::size_t> counts;
  for (std::size_t count = from; count <= 100'000; count *= 10) counts.push_back(count);
  return counts;
}

GrowthSeries Series(const std::string& work, const std::string& tool,
                    const std::vector<std::size_t>& counts, const std::string& unit,
                    const std::function<json(std::size_t)>& arguments) {
  GrowthSeries series{work, tool, {}, {}};
  for (const std::size_t count : counts) {
    series.steps.push_back(
        {std::to_string(count) + unit, static_cast<double>(count), arguments(count)});
  }
  return series;
}

void MakeDirectories(const Place& place) {
  for (const std::size_t entries : Counts(10)) {
    const std::string directory = DirectoryOf(place, entries);
    Prepare(place, "mkdir " + directory + " && cd " + directory + " && seq " +
                       std::to_string(entries) + " | sed 's/.*/file&.txt/' | xargs touch");
  }
}

/// A hundred files of one line in each directory; one of them has another line to be found.
void MakeTrees(const Place& place) {
  for (const std::size_t files : Counts(100)) {
    const std::string tree = TreeOf(place, files);
    Prepare(place,
            "mkdir " + tree + " && cd " + tree + " && for d in $(seq " +
                std::to_string(files / kFilesOfADirectory) + "); do mkdir d$d; for f in $(seq " +
                std::to_string(kFilesOfADirectory) +
                "); do echo 'a line of text in a file'; done | (cd d$d && split -l 1 -a 3 - f); "
                "echo 'a needle' >> d$d/faaa; done");
  }
}

}  // namespace

std::vector<GrowthSeries> TreeGrowth(const Place& place) {
  const std::vector<std::size_t> entries = Counts(10);
  const std::vector<std::size_t> files = Counts(100);
  GrowthSeries list =
      Series("list_directory", "list_directory", entries, " entries", [&](std::size_t count) {
        return json{{"path", DirectoryOf(place, count)}};
      });
  list.prepare = MakeDirectories;
  GrowthSeries write = Series(
      "write_file, among so many", "write_file", entries, " entries", [&](std::size_t count) {
        return json{{"path", DirectoryOf(place, count) + "/file1.txt"}, {"content", "new\n"}};
      });
  GrowthSeries glob =
      Series("glob **/faaa, one of a hundred", "glob", files, " files", [&](std::size_t count) {
        return json{{"pattern", "**/faaa"}, {"path", TreeOf(place, count)}};
      });
  glob.prepare = MakeTrees;
  GrowthSeries search = Series("search, found in one of a hundred", "search_file_content", files,
                               " files", [&](std::size_t count) {
                                 return json{{"pattern", "needle"}, {"path", TreeOf(place, count)}};
                               });
  return {list, write, glob, search};
}

}  // namespace bench
