// Several clients with a server each make calls of all kinds, a million in all, while faults are
// injected into the guest. Every response is checked. Memory, descriptors, threads and guest
// processes must not grow. Exits with 0 if all that holds, 2 if something grows, 1 if a response is
// wrong.

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cxxopts.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "soak/mixed_client.h"
#include "testing/eventually.h"
#include "testing/guest_processes.h"
#include "testing/temporary_directory.h"

namespace {

using nlohmann::json;
using soak::MixedClient;
using testing_support::LoopbackInstance;

constexpr int kClients = 4;
constexpr int kSamples = 400;
/// A sample costs as much as several calls.
constexpr std::uint64_t kFewestBetweenSamples = 250;
constexpr auto kPatience = std::chrono::seconds(60);
/// With fewer calls, usage is still rising to its steady level.
constexpr std::uint64_t kFewestToCompare = 100'000;

struct Options {
  std::string server;
  std::uint64_t calls = 0;
  std::uint64_t faults = 0;
  std::string json_file;
};

/// What is in use at one moment. The figures of the servers are those of the largest one.
struct Sample {
  std::uint64_t calls = 0;  ///< done so far
  double mebibytes = 0;     ///< resident
  double descriptors = 0;
  double threads = 0;
  double guest_processes = 0;
};

/// Adds one server's figures to `most`. Needs /proc.
void AddServer(pid_t server, Sample& most) {
  const auto status = [server](const char* name) {
    return static_cast<double>(testing_support::StatusOf(server, name));
  };
  most.mebibytes = std::max(most.mebibytes, status("VmRSS") / 1024);
  most.threads = std::max(most.threads, status("Threads"));
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/" + std::to_string(server) + "/fd", error);
  most.descriptors =
      std::max(most.descriptors, static_cast<double>(std::distance(begin(open), end(open))));
}

/// The guest works again when this returns.
void InjectFault(LoopbackInstance& instance, std::size_t number) {
  switch (number % 4) {
    case 0: {
      const auto sessions = instance.SessionPids();
      if (!sessions.empty()) ::kill(sessions.front(), SIGKILL);
      break;
    }
    case 1:
      for (const pid_t session : instance.SessionPids()) ::kill(session, SIGKILL);
      break;
    case 2:
      testing_support::Freeze(instance);
      std::this_thread::sleep_for(std::chrono::seconds(1));  // the length of the fault
      testing_support::Thaw(instance);
      break;
    default:  // on another port with a new key
      instance.Stop();
      instance.Start();
  }
}

class Soak {
 public:
  explicit Soak(const Options& options) : options_(options), instance_(MakeInstance()) {
    testing_support::ChildProcess::Options server;
    server.environment["LIMA_HOME"] = (top_.path() / "lima").string();
    for (unsigned i = 0; i < kClients; ++i) {
      server.arguments = {"sh", "-c", R"(exec "$0" serve default 2>"$1")", options.server,
                          (top_.path() / ("log" + std::to_string(i))).string()};
      clients_.push_back(std::make_unique<MixedClient>(
          server, top_.path() / "work" / ("client" + std::to_string(i)), i));
    }
  }

  void Run() {
    std::vector<std::thread> threads;
    for (const auto& client : clients_) {
      threads.emplace_back([&] {
        try {
          client->Run(options_.calls / kClients, done_, failed_);
        } catch (...) {
          Fail(std::current_exception());
        }
        ++ended_;
      });
    }
    try {
      Watch();
    } catch (...) {
      Fail(std::current_exception());
    }
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Checks what must hold after all calls: no write is lost, and nothing runs in the guest.
  void RequireQuiet() {
    for (const auto& client : clients_) client->RequireNothingLost();
    clients_.clear();  // SIGKILL
    std::vector<testing_support::GuestProcess> left;
    const auto nothing_is_left = [&] {
      left = testing_support::GuestProcesses(instance_);
      return left.empty();
    };
    if (!testing_support::Eventually(nothing_is_left, kPatience)) {
      throw std::runtime_error("still running in the guest: " +
                               left.front().command.substr(0, 300));
    }
  }

  [[nodiscard]] soak::Tally tally() const {
    soak::Tally all;
    for (const auto& client : clients_) all.Add(client->tally());
    return all;
  }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  [[nodiscard]] const std::vector<std::uint64_t>& faults() const { return faults_; }

 private:
  /// Keeps the first failure, and stops all clients.
  void Fail(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    failed_ = true;
  }

  LoopbackInstance::Options MakeInstance() const {
    std::filesystem::create_directory(top_.path() / "work");
    LoopbackInstance::Options options;
    options.lima_home = top_.path() / "lima";
    options.mounts = {{(top_.path() / "work").string(), "", true}};
    return options;
  }

  /// Takes samples and injects faults at regular numbers of calls until the clients are done.
  void Watch() {
    const std::uint64_t between_samples =
        std::max(options_.calls / kSamples, kFewestBetweenSamples);
    const std::uint64_t between_faults = options_.calls / (options_.faults + 1);
    while (ended_ < kClients && !failed_) {
      const std::uint64_t done = done_;
      if (done >= between_samples * samples_.size()) TakeSample(done);
      if (faults_.size() < options_.faults && done >= between_faults * (faults_.size() + 1)) {
        InjectFault(instance_, faults_.size());
        faults_.push_back(done);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::cerr << '\n';
  }

  void TakeSample(std::uint64_t done) {
    Sample most;
    for (const auto& client : clients_) AddServer(client->pid(), most);
    most.calls = done;
    most.guest_processes = static_cast<double>(testing_support::GuestProcesses(instance_).size());
    samples_.push_back(most);
    std::cerr << "\r" << done << " of " << options_.calls << " calls, " << faults_.size()
              << " faults" << std::flush;
  }

  const Options& options_;
  testing_support::TemporaryDirectory top_;
  LoopbackInstance instance_;
  std::vector<std::unique_ptr<MixedClient>> clients_;
  std::vector<Sample> samples_;
  std::vector<std::uint64_t> faults_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<int> ended_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // of failure_
  std::exception_ptr failure_;
};

/// A figure that must not grow. `slack`: how far the last quarter may be above the second one.
struct Bound {
  const char* name;
  double Sample::*figure;
  double slack;
};
constexpr Bound kBounds[] = {
    {"resident memory, MiB", &Sample::mebibytes, 4},
    {"descriptors", &Sample::descriptors, 3},
    // A server keeps the threads of its busiest moment: cancelled calls that wait for a guest under
    // a fault, and those that have come since.
    {"threads", &Sample::threads, 8},
    {"processes in the guest", &Sample::guest_processes, 12},
};

/// The median of one figure over the samples from `begin` to `end`, both as shares of all.
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

bool IsFlat(const std::vector<Sample>& samples) {
  bool flat = true;
  for (const Bound& bound : kBounds) {
    const double before = MedianOf(samples, bound.figure, 0.25, 0.5);
    const double after = MedianOf(samples, bound.figure, 0.75, 1);
    const bool grows = after > before + bound.slack;
    flat = flat && !grows;
    std::cout << bound.name << ": " << before << " in the second quarter, " << after
              << " in the last" << (grows ? "  GROWS" : "") << '\n';
  }
  return flat;
}

void WriteJson(const Soak& soak, const std::string& file) {
  json samples = json::array();
  for (const Sample& sample : soak.samples()) {
    samples.push_back({{"calls", sample.calls},
                       {"mebibytes", sample.mebibytes},
                       {"descriptors", sample.descriptors},
                       {"threads", sample.threads},
                       {"guest_processes", sample.guest_processes}});
  }
  std::ofstream out(file);
  out << json{{"samples", samples}, {"faults_at", soak.faults()}}.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

Options ParseOptions(int argc, char** argv) {
  cxxopts::Options parser("soak", "Makes many calls and checks that nothing grows.");
  parser.add_options()("server", "the program", cxxopts::value<std::string>())(
      "calls", "how many", cxxopts::value<std::uint64_t>()->default_value("1000000"))(
      "faults", "how many", cxxopts::value<std::uint64_t>()->default_value("60"))(
      "json", "file to write", cxxopts::value<std::string>()->default_value(""));
  const auto parsed = parser.parse(argc, argv);
  return {parsed["server"].as<std::string>(), parsed["calls"].as<std::uint64_t>(),
          parsed["faults"].as<std::uint64_t>(), parsed["json"].as<std::string>()};
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const Options options = ParseOptions(argc, argv);
  Soak soak(options);
  soak.Run();
  const soak::Tally tally = soak.tally();
  soak.RequireQuiet();
  std::cout << tally.all() << " calls: " << tally.good << " good, " << tally.refused
            << " refused as expected, " << tally.broken << " reported a lost connection, "
            << tally.cancelled << " cancelled; " << soak.faults().size() << " faults\n";
  if (!options.json_file.empty()) WriteJson(soak, options.json_file);
  const bool flat = IsFlat(soak.samples());
  return flat || options.calls < kFewestToCompare ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "\nsoak: " << error.what() << '\n';
    return 1;
  }
}
