// Measures the program beside ssh, sftp, find and git grep in one run, so that the ratios hold on
// any machine.
//
//   bench --server PROGRAM [--instance NAME] [--rounds N] [--json FILE] [--chart FILE]
//   bench --server PROGRAM [--instance NAME] --growth yes
//
// Without --instance it makes a loopback instance. With --growth it shows instead how time and
// memory grow with the work (growth.h). Exits with 0 when every aim is reached, 2 when one is
// missed, 1 when something went wrong.

#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/growth.h"
#include "bench/place.h"
#include "bench/process_tree.h"
#include "bench/reference.h"
#include "bench/report.h"
#include "bench/sample_text.h"
#include "bench/timed_client.h"

namespace bench {
namespace {

using nlohmann::json;

struct Arguments {
  std::string server;
  std::string instance;  ///< empty: a loopback instance
  int rounds = 31;
  bool growth = false;
  std::string json_file;
  std::string chart_file;
};

Arguments ParseArguments(std::span<char*> words) {
  Arguments arguments;
  std::map<std::string, std::string*> options = {{"--server", &arguments.server},
                                                 {"--instance", &arguments.instance},
                                                 {"--json", &arguments.json_file},
                                                 {"--chart", &arguments.chart_file}};
  std::string rounds = std::to_string(arguments.rounds);
  options["--rounds"] = &rounds;
  std::string growth = "no";
  options["--growth"] = &growth;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const auto option = options.find(words[i]);
    if (option == options.end())
      throw std::runtime_error("unknown option " + std::string(words[i]));
    *option->second = words[i + 1];
  }
  arguments.rounds = std::stoi(rounds);
  arguments.growth = growth == "yes";
  if (arguments.server.empty() || words.size() % 2 == 0 || arguments.rounds < 1) {
    throw std::runtime_error(
        "usage: bench --server PROGRAM [--instance NAME] [--rounds N] [--growth yes] [--json FILE] "
        "[--chart FILE]");
  }
  return arguments;
}

/// Before each sample, for what the one before has left running in the guest: the next login shell,
/// an sshd that ends. Agents make their calls seconds apart.
constexpr std::chrono::milliseconds kRest(50);

constexpr std::size_t kSmallFile = 4096;
constexpr std::size_t kLargeFile = std::size_t{16} * 1024 * 1024;

/// The guest's side of what is measured: made in the guest, by its sh.
constexpr std::string_view kPrepare = R"(
set -e
line='int function_number(const char* name) { return name[0] == "x"[0]; } // needle in a line'
mkdir hundred tree
i=0; while [ $i -lt 100 ]; do echo "$line" > hundred/file$i.txt; i=$((i + 1)); done
yes "${line%needle*}text" | head -c 1000 > text
d=0
while [ $d -lt 100 ]; do
  mkdir tree/d$d
  ( cd tree/d$d; seq 0 99 | sed 's/.*/f&.txt/' | xargs -n 100 sh -c 'for f; do cp ../../text "$f"; done' sh
    echo "$line" >> f50.txt )
  d=$((d + 1))
done
yes "$line" | head -c 4096 > small.txt
yes "$line" | head -c 16777216 > large.txt
)";

using Samples = std::vector<double>;

/// One measured row: how to take samples of ours, and one of the reference.
struct Work {
  std::string name;
  std::function<Samples()> ours;
  std::string reference_name;
  std::function<double()> reference;  ///< empty: there is none
  /// As a multiple of the reference's median, or of the anchor's.
  double aim = 0;
  bool aim_of_anchor = false;
  int part = 1;  ///< only every `part`-th round, for what takes long
};

// Aims without a reference of their own are multiples of the anchor: what is aimed at on a machine
// where the anchor takes 7.6 ms.
constexpr double kAnchor = 7.6;
constexpr std::string_view kAnchorWork = "run_shell_command true";

/// What takes less than the machine needs to wake up is called several times in a row, as agents
/// do.
constexpr int kShortCallsInARow = 10;

std::vector<Work> ListWork(const Place& place, TimedClient& client, const Reference& reference) {
  const std::string& dir = place.directory;
  const auto call = [&client](std::string tool, json arguments, int in_a_row = 1) {
    return [&client, tool = std::move(tool), arguments = std::move(arguments), in_a_row] {
      return client.CallInARow(tool, arguments, in_a_row);
    };
  };
  const std::string host_file = (place.temporary->path() / "copy").string();
  const std::string large = SampleText(kLargeFile);
  std::vector<Work> work;
  work.push_back({"start → initialize answered",
                  [&place] { return Samples{TimedClient(place.server).start_time()}; },
                  "",
                  {},
                  3 / kAnchor,
                  true});
  work.push_back({"start → first tool answered",
                  [&place, dir] {
                    TimedClient fresh(place.server);
                    return Samples{fresh.start_time() +
                                   fresh.Call("list_directory", {{"path", dir + "/hundred"}})};
                  },
                  "ssh, a connection of its own",
                  [&reference] { return reference.Connect("true"); }, 1});
  work.push_back({std::string(kAnchorWork),
                  call("run_shell_command", {{"command", {"true"}}, {"directory", dir}}),
                  "ssh, shared connection", [&reference] { return reference.LoginShell("true"); },
                  2 / kAnchor, true});
  work.push_back({"read_file 4 KiB",
                  call("read_file", {{"path", dir + "/small.txt"}}, kShortCallsInARow),
                  "",
                  {},
                  0.5 / kAnchor,
                  true});
  work.push_back({"write_file 4 KiB",
                  call("write_file",
                       {{"path", dir + "/written.txt"}, {"content", large.substr(0, kSmallFile)}},
                       kShortCallsInARow),
                  "",
                  {},
                  2 / kAnchor,
                  true});
  work.push_back({"list_directory, 100 entries",
                  call("list_directory", {{"path", dir + "/hundred"}}, kShortCallsInARow),
                  "",
                  {},
                  0.6 / kAnchor,
                  true});
  work.push_back({"glob */*7.txt, 10,000 files",
                  call("glob", {{"pattern", "*/*7.txt"}, {"path", dir + "/tree"}}), "find",
                  [&reference, dir] {
                    const std::string find =
                        "find " + dir + "/tree -mindepth 2 -maxdepth 2 -name '*7.txt' ";
                    return reference.InGuest(find + "-printf '%T@ %p\\n' 2>/dev/null || " + find +
                                             "-exec stat -f '%Fm %N' {} +");  // BSD's
                  },
                  1.5});
  work.push_back(
      {"search_file_content, 10,000 files",
       call("search_file_content", {{"pattern", "needle"}, {"path", dir + "/tree"}}), "git grep",
       [&reference, dir] {
         return reference.InGuest("cd " + dir + "/tree && git grep -n -I --no-index -e needle");
       },
       1.2});
  work.push_back({"read_file 16 MiB", call("read_file", {{"path", dir + "/large.txt"}}), "sftp get",
                  [&reference, dir, host_file] {
                    return reference.Sftp("get " + dir + "/large.txt " + host_file);
                  },
                  60 / kAnchor, true, 3});
  work.push_back({"write_file 16 MiB",
                  call("write_file", {{"path", dir + "/large_written.txt"}, {"content", large}}),
                  "sftp put",
                  [&reference, dir, host_file] {
                    return reference.Sftp("put " + host_file + " " + dir + "/put.txt");
                  },
                  80 / kAnchor, true, 3});
  work.push_back({"16 MB of output",
                  call("run_shell_command",
                       {{"command", {"sh", "-c", "yes | head -c 16000000"}}, {"directory", dir}}),
                  "ssh, shared connection",
                  [&reference] { return reference.LoginShell("yes | head -c 16000000"); }, 1.3,
                  false, 3});
  return work;
}

/// All samples, interleaved: in each round each work once with its reference, so that whatever else
/// the machine does meets both. They go first in turn: the second finds the caches filled.
std::vector<Row> Measure(const std::vector<Work>& works, int rounds, double& anchor) {
  std::vector<std::vector<double>> ours(works.size());
  std::vector<std::vector<double>> references(works.size());
  const auto after_rest = [](const auto& take) {
    std::this_thread::sleep_for(kRest);
    return take();
  };
  for (int round = 0; round < rounds; ++round) {
    std::cerr << "\rround " << round + 1 << " of " << rounds << std::flush;
    for (std::size_t i = 0; i < works.size(); ++i) {
      const Work& work = works[i];
      if (round % work.part != 0) continue;
      const bool reference_first = round / work.part % 2 == 1;
      const auto take_reference = [&] { references[i].push_back(after_rest(work.reference)); };
      if (work.reference && reference_first) take_reference();
      const Samples samples = after_rest(work.ours);
      ours[i].insert(ours[i].end(), samples.begin(), samples.end());
      if (work.reference && !reference_first) take_reference();
    }
  }
  std::cerr << '\n';
  std::vector<Row> rows;
  for (std::size_t i = 0; i < works.size(); ++i) {
    Row row{works[i].name, Summarize(ours[i]), works[i].reference_name, std::nullopt, 0};
    if (works[i].reference) row.reference = Summarize(references[i]);
    if (row.work == kAnchorWork) anchor = row.reference->median;
    rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < works.size(); ++i) {
    const bool of_anchor = works[i].aim_of_anchor || !rows[i].reference;
    rows[i].aim = works[i].aim * (of_anchor ? anchor : rows[i].reference->median);
  }
  return rows;
}

/// `count` servers at once, each with a client of its own that reads `calls` times; milliseconds
/// until the last has ended.
double ManyServers(const Place& place, int count, int calls) {
  std::vector<std::unique_ptr<TimedClient>> clients;
  for (int i = 0; i < count; ++i) clients.push_back(std::make_unique<TimedClient>(place.server));
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  std::vector<std::string> failures(clients.size());
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        for (int call = 0; call < calls; ++call) {
          clients[i]->Call("read_file", {{"path", place.directory + "/small.txt"}});
        }
      } catch (const std::exception& error) {
        failures[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) {
    if (!failure.empty()) throw std::runtime_error(failure);
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::vector<Limit> MeasureLimits(const Place& place, const TimedClient& used) {
  std::vector<Limit> limits;
  const TreeUsage after = UsageOf(used.pid());
  limits.push_back({"memory at its peak, all processes", "MiB", after.peak_mebibytes, 96});
  limits.push_back({"memory afterwards, idle", "MiB", after.resident_mebibytes, 16});

  TimedClient busy(place.server);
  const json small = {{"path", place.directory + "/small.txt"}};
  busy.Call("read_file", small);
  const double thousand = busy.CallAtOnce("read_file", small, 1000);
  limits.push_back({"1,000 reads at once", "ms", thousand, 1000 * busy.Call("read_file", small)});
  limits.push_back(
      {"threads after it", "threads", static_cast<double>(UsageOf(busy.pid()).threads), 32});
  const double one = ManyServers(place, 1, 100);
  limits.push_back(
      {"10 clients of 10 servers, 100 reads each", "ms", ManyServers(place, 10, 100), 10 * one});
  return limits;
}

bool RunGrowth(const Place& place) {
  std::vector<GrowthSeries> series = FileGrowth(place);
  for (GrowthSeries& one : TreeGrowth(place)) series.push_back(std::move(one));
  return MeasureGrowth(place, series);
}

int Run(const Arguments& arguments) {
  const Place place = PreparePlace(arguments.server, arguments.instance);
  if (arguments.growth) {
    const bool good = RunGrowth(place);
    CleanUp(place);
    return good ? 0 : 2;
  }
  Prepare(place, std::string(kPrepare));
  Report report;
  report.instance = arguments.instance.empty() ? "loopback" : arguments.instance;
  {
    const Reference reference(place.ssh_config, place.host, place.temporary->path().string(),
                              arguments.instance.empty());
    TimedClient client(place.server);
    const std::vector<Work> works = ListWork(place, client, reference);
    report.rows = Measure(works, arguments.rounds, report.anchor);
    report.limits = MeasureLimits(place, client);
  }
  CleanUp(place);
  PrintTable(report);
  if (!arguments.json_file.empty()) WriteJson(report, arguments.json_file);
  if (!arguments.chart_file.empty()) WriteChart(report, arguments.chart_file);
  return AllReached(report) ? 0 : 2;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::Run(bench::ParseArguments(std::span(argv, static_cast<std::size_t>(argc))));
  } catch (const std::exception& error) {
    std::cerr << "bench: " << error.what() << '\n';
    return 1;
  }
}
