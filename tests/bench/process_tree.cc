#include "bench/process_tree.h"

#include <fstream>
#include <string>

namespace bench {
namespace {

double KibibytesIn(const std::string& line) {
  return std::stod(line.substr(line.find(':') + 1));
}

}  // namespace

TreeUsage UsageOf(pid_t process) {
  const std::string directory = "/proc/" + std::to_string(process);
  TreeUsage usage;
  std::ifstream status(directory + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) usage.peak_mebibytes += KibibytesIn(line) / 1024;
    if (line.starts_with("VmRSS:")) usage.resident_mebibytes += KibibytesIn(line) / 1024;
    if (line.starts_with("Threads:")) usage.threads += std::stoi(line.substr(line.find(':') + 1));
  }
  std::ifstream children(directory + "/task/" + std::to_string(process) + "/children");
  for (pid_t child = 0; children >> child;) {
    const TreeUsage more = UsageOf(child);
    usage.peak_mebibytes += more.peak_mebibytes;
    usage.resident_mebibytes += more.resident_mebibytes;
    usage.threads += more.threads;
  }
  return usage;
}

}  // namespace bench
