#include "testing/process_limit.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace testing_support {
namespace {

namespace fs = std::filesystem;

#ifdef __linux__

bool Write(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return !file.fail();
}

/// Between being listed and being limited a process may have ended.
bool Lives(pid_t pid) {
  return ::kill(pid, 0) == 0 || errno != ESRCH;
}

/// A control group below the one that holds all processes.
class ControlGroup final : public ProcessLimit {
 public:
  explicit ControlGroup(fs::path parent) : parent_(std::move(parent)) {}
  ~ControlGroup() override {
    if (directory_.empty()) return;
    // Only an empty group can be removed.
    std::ifstream members(directory_ / "cgroup.procs");
    for (std::string pid; members >> pid;) Write(parent_ / "cgroup.procs", pid);
    std::error_code stays;
    fs::remove(directory_, stays);
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  [[nodiscard]] bool Hold(const std::vector<pid_t>& processes, int spare) {
    // No name made of a process's number: a test that was killed leaves its group behind, and the
    // number comes again.
    std::string directory = parent_ / "limactl-mcp-test-XXXXXX";
    if (::mkdtemp(directory.data()) == nullptr) return false;
    directory_ = directory;
    std::error_code error;
    if (!fs::exists(directory_ / "cgroup.procs", error)) return false;  // no control group at all
    for (const pid_t pid : processes) {
      if (!Write(directory_ / "cgroup.procs", std::to_string(pid)) && Lives(pid)) return false;
    }
    int allowed = 0;
    // What ends leaves its place to nobody, unless places are asked for.
    if (spare > 0) std::ifstream(directory_ / "pids.current") >> allowed;
    return Write(directory_ / "pids.max", std::to_string(allowed + spare));
  }

 private:
  fs::path parent_;
  fs::path directory_;
};

/// RLIMIT_NPROC counts all processes of the user, but binds only those that have it.
class ResourceLimit final : public ProcessLimit {
 public:
  ~ResourceLimit() override {
    for (const auto& [pid, limit] : before_) ::prlimit(pid, RLIMIT_NPROC, &limit, nullptr);
  }
  ResourceLimit() = default;
  ResourceLimit(const ResourceLimit&) = delete;
  ResourceLimit& operator=(const ResourceLimit&) = delete;

  [[nodiscard]] bool Hold(const std::vector<pid_t>& processes) {
    for (const pid_t pid : processes) {
      rlimit limit{};
      if (::prlimit(pid, RLIMIT_NPROC, nullptr, &limit) != 0) {
        if (Lives(pid)) return false;
        continue;
      }
      before_.emplace_back(pid, limit);
      limit.rlim_cur = 0;
      if (::prlimit(pid, RLIMIT_NPROC, &limit, nullptr) != 0 && Lives(pid)) return false;
    }
    return true;
  }

 private:
  std::vector<std::pair<pid_t, rlimit>> before_;
};

#endif

}  // namespace

std::unique_ptr<ProcessLimit> ProcessLimit::Impose(const std::vector<pid_t>& processes, int spare,
                                                   std::string& problem) {
#ifdef __linux__
  if (::getuid() != 0) {
    if (spare != 0) {
      problem = "the limit of an ordinary user counts what others start too";
      return nullptr;
    }
    auto limit = std::make_unique<ResourceLimit>();
    if (limit->Hold(processes)) return limit;
    problem = "prlimit: " + std::generic_category().message(errno);
    return nullptr;
  }
  for (const char* parent : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup"}) {
    auto group = std::make_unique<ControlGroup>(parent);
    if (group->Hold(processes, spare)) return group;
  }
  problem = "root's processes are bound by control groups only, and none can be made here";
  return nullptr;
#else
  static_cast<void>(processes);
  static_cast<void>(spare);
  problem = "this system cannot limit the processes of another one";
  return nullptr;
#endif
}

}  // namespace testing_support
