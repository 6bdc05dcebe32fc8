#include "doctor/doctor.h"

#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "connection/instance.h"
#include "doctor/installation.h"
#include "doctor/instance_checks.h"
#include "doctor/server_checks.h"
#include "lima/home.h"
#include "lima/host.h"
#include "ssh/connection.h"
#include "support/errors.h"
#include "support/units.h"

namespace doctor {
namespace {

using support::Context;

constexpr std::chrono::seconds kCheckTimeout{20};

using Check = std::function<Finding(const Context&)>;

/// What `check` throws becomes a failure.
Finding RunCheck(const Check& check, const std::string& advice) {
  try {
    return check(Context().WithTimeout(kCheckTimeout));
  } catch (const support::Stopped&) {
    return Failed("not done within " + support::FormatDuration(kCheckTimeout), advice);
  } catch (const std::exception& error) {
    return Failed(error.what(), advice);
  }
}

/// Each check uses the results of the checks that it needs.
class Doctor {
 public:
  Doctor(const std::string& instance, const std::string& path,
         const std::function<void(const Result&)>& on_result)
      : instance_(instance), path_(path), on_result_(on_result) {}

  std::vector<Result> Examine() {
    CheckHost();
    CheckFiles();
    CheckGuest();
    return results_;
  }

 private:
  void CheckHost();
  void CheckFiles();
  void CheckGuest();

  /// Runs a check, unless `needs` (empty for none) failed or was skipped. `advice` is for what the
  /// check throws.
  void Run(const std::string& name, const std::string& needs, const std::string& advice,
           const Check& check);

  /// The command of agents; this program itself if limactl is missing or finds no plugin.
  [[nodiscard]] std::vector<std::string> ServerCommand() const {
    if (culprits_.contains("limactl") || plugins_.empty()) {
      return {OwnProgram().string(), "serve", instance_};
    }
    return {limactl_->string(), "mcp", "serve", instance_};
  }

  const std::string& instance_;
  const std::string& path_;
  const std::function<void(const Result&)>& on_result_;
  std::vector<Result> results_;
  std::map<std::string, std::string> culprits_;  ///< failed or skipped check → the one that failed

  std::optional<std::filesystem::path> limactl_;
  std::vector<std::filesystem::path> plugins_;
  std::filesystem::path lima_home_;
  lima::InstanceConfiguration configuration_;
  std::vector<lima::MountLocation> mounts_;
  lima::SshEndpoint endpoint_;
  std::unique_ptr<ServerUnderTest> server_;
};

void Doctor::Run(const std::string& name, const std::string& needs, const std::string& advice,
                 const Check& check) {
  Result result;
  result.check = name;
  if (const auto culprit = culprits_.find(needs); culprit != culprits_.end()) {
    culprits_[name] = culprit->second;
    result.finding = Skipped("cannot be tried: see " + culprit->second);
  } else {
    const auto start = support::Clock::now();
    result.finding = RunCheck(check, advice);
    result.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(support::Clock::now() - start);
    const Mark mark = result.finding.mark;
    if (mark == Mark::kFailed || mark == Mark::kSkipped) culprits_[name] = name;
  }
  results_.push_back(std::move(result));
  on_result_(results_.back());
}

void Doctor::CheckHost() {
  limactl_ = FindProgram("limactl", path_);
  Run("limactl", "", "run `limactl --version` to see what is wrong",
      [this](const Context& context) { return CheckLimactl(limactl_, context); });
  Run("plugin", "", "install this program again", [this](const Context&) {
    plugins_ = FindPlugins(limactl_, path_);
    return CheckPlugin(plugins_, OwnProgram());
  });
}

void Doctor::CheckFiles() {
  // Two of the three files are shared by all instances.
  const std::string fix = "fix the named file; limactl edit " + instance_ +
                          " opens the instance's own lima.yaml while it is stopped";
  Run("instance", "", "limactl list shows the instances; LIMA_HOME names their directory",
      [this](const Context&) {
        lima_home_ = lima::HomeDirectory();
        return CheckInstance(lima_home_, instance_);
      });
  Run("configuration", "instance", fix, [this](const Context&) {
    configuration_ = lima::LoadConfiguration(lima_home_, instance_);
    return CheckConfiguration(configuration_);
  });
  Run("status", "configuration", "limactl list",
      [this](const Context&) { return CheckStatus(configuration_); });
  Run("mounts", "configuration", fix, [&](const Context&) {
    mounts_ = lima::ListLocations(configuration_, lima::ReadHostFacts(), {});
    if (configuration_.plain) {
      return Warning("plain: true in the configuration: the instance mounts nothing", fix);
    }
    return CheckMounts(mounts_, instance_, !culprits_.contains("status"));
  });
  Run("settings", "configuration", fix, [this](const Context&) {
    std::error_code gone;
    return CheckSettings(mounts_, std::filesystem::current_path(gone).string(), instance_);
  });
  Run("ssh.config", "status", RestartCommand(instance_), [this](const Context&) {
    endpoint_ = lima::ReadSshConfig(configuration_.directory(), instance_);
    return CheckSshConfig(configuration_, endpoint_);
  });
  Run("key", "ssh.config", "", [this](const Context&) { return CheckKeys(endpoint_); });
}

void Doctor::CheckGuest() {
  Run("connect", "key", "wait if it is booting, else: " + RestartCommand(instance_),
      [this](const Context& context) {
        ssh::ConnectionOptions options;
        const auto guest = ssh::Connection::Open(endpoint_, options, context);
        return Passed("sshd accepts " + endpoint_.user + ", whose files start in " +
                      guest->RealPath(".", context));
      });
  Run("server", "connect", "start it yourself to see its messages", [this](const Context& context) {
    server_ = std::make_unique<ServerUnderTest>(ServerCommand());
    return CheckServer(*server_, context);
  });
  Run("mounted", "server", "limactl stop " + instance_ + " && limactl start " + instance_,
      [this](const Context& context) { return CheckMounted(*server_, mounts_, context); });
  Run("shell", "mounted", "check with limactl shell " + instance_, [this](const Context& context) {
    return CheckShell(*server_, mounts_.front().location, context);
  });
  Run("write", "shell", "check with limactl shell " + instance_ + " whether its mounts respond",
      [this](const Context& context) { return CheckWrite(*server_, mounts_, context); });
  Run("find", "shell", "install findutils in the guest", [this](const Context& context) {
    return CheckFind(*server_, mounts_.front().location, context);
  });
  Run("git", "shell", "install git in the guest", [this](const Context& context) {
    return CheckGit(*server_, mounts_.front().location, context);
  });
}

}  // namespace

std::vector<Result> Examine(const std::string& instance, const std::string& path,
                            const std::function<void(const Result&)>& on_result) {
  return Doctor(instance, path, on_result).Examine();
}

}  // namespace doctor
