// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor.h"

#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "connection/closed.h"
#include "connection/shared_connection.h"
#include "copy/set_aside.h"
#include "doctor/exposure.h"
#include "doctor/guest_checks.h"
#include "doctor/host_checks.h"
#include "lima/home.h"
#include "lima/sandbox.h"
#include "ssh/connection.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/program.h"
#include "support/units.h"

namespace doctor {
namespace {

using support::Context;

constexpr std::chrono::seconds kCheckTimeout{20};

/// Runs the checks. A check may use the results of those that it needs.
class Doctor {
 public:
  Doctor(const std::string& instance, const std::string& path, const exposure::GuestReach& reach,
         const std::function<void(const Finding&)>& on_finding)
      : instance_(instance), path_(path), reach_(reach), on_finding_(on_finding) {}

  std::vector<Finding> Examine() {
    CheckHost();
    CheckFiles();
    CheckGuest();
    return findings_;
  }

 private:
  using Check = std::function<Finding(const Context&)>;

  void CheckHost();
  void CheckFiles();
  void CheckGuest();

  /// Runs a check, unless `needs` (empty for none) failed or was skipped. `advice` is used if the
  /// check throws.
  void Run(const std::string& name, const std::string& needs, const std::string& advice,
           const Check& check);

  /// The command that agents use; this program itself if limactl does not find it.
  [[nodiscard]] std::vector<std::string> ServerCommand() const {
    if (!plugin_) return {support::OwnProgram().string(), "serve", instance_};
    return {limactl_->string(), "mcp", "serve", instance_};
  }

  const std::string& instance_;
  const std::string& path_;
  const exposure::GuestReach& reach_;
  const std::function<void(const Finding&)>& on_finding_;
  std::vector<Finding> findings_;
  std::map<std::string, std::string> culprits_;  ///< failed or skipped check → the one that failed

  std::optional<std::filesystem::path> limactl_;
  std::optional<support::Release> release_;  ///< limactl's
  std::optional<std::filesystem::path> plugin_;
  std::filesystem::path lima_home_;
  lima::InstanceConfiguration configuration_;
  Mounts mounts_;
  lima::SshEndpoint endpoint_;
  std::shared_ptr<guest::Guest> guest_;
  std::unique_ptr<ServerUnderTest> server_;
};

void Doctor::Run(const std::string& name, const std::string& needs, const std::string& advice,
                 const Check& check) {
  Finding finding;
  const auto start = support::Clock::now();
  if (const auto culprit = culprits_.find(needs); culprit != culprits_.end()) {
    culprits_[name] = culprit->second;
    finding = Skipped(support::Format("cannot be tried: see {}", culprit->second));
  } else {
    try {
      finding = check(Context().WithTimeout(kCheckTimeout));
    } catch (const support::Stopped&) {
      finding = Failed(
          support::Format("timed out after {}", support::FormatDuration(kCheckTimeout)), advice);
    } catch (const std::exception& error) {
      finding = Failed(error.what(), advice);
    }
    const bool works = finding.result == Result::kPassed || finding.result == Result::kWarning;
    if (!works) culprits_[name] = name;
  }
  finding.check = name;
  finding.duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(support::Clock::now() - start);
  on_finding_(finding);
  findings_.push_back(std::move(finding));
}

void Doctor::CheckHost() {
  Run("limactl", "", "run `limactl --version` to see what is wrong",
      [this](const Context& context) {
        limactl_ = reach_.FindProgram("limactl", path_);
        return CheckLimactl(limactl_, context, release_);
      });
  Run("plugin", "limactl", "install this program again", [this](const Context&) {
    plugin_ = FindPlugin(*limactl_, path_);
    return CheckPlugin(plugin_, support::OwnProgram());
  });
}

void Doctor::CheckFiles() {
  // Two of the three files are shared by all instances.
  const std::string fix = support::Format(
      "fix the named file; limactl edit {} opens the instance's own lima.yaml while it is stopped",
      instance_);
  Run("instance", "", "limactl list shows the instances; LIMA_HOME names their directory",
      [this](const Context&) {
        lima_home_ = lima::HomeDirectory();
        lima::RequireInstance(lima_home_, instance_);
        return Passed((lima_home_ / instance_).string());
      });
  Run("configuration", "instance", fix, [this](const Context&) {
    configuration_ = lima::LoadConfiguration(lima_home_, instance_);
    mounts_ = lima::ListMounts(configuration_);
    return CheckConfiguration(configuration_);
  });
  Run("status", "configuration", "limactl list",
      [this](const Context&) { return CheckStatus(configuration_); });
  Run("mounts", "configuration", fix,
      [this](const Context&) { return CheckMounts(configuration_, mounts_); });
  std::error_code gone;
  const std::string project = std::filesystem::current_path(gone).string();
  Run("exposure", "configuration", fix, [&](const Context&) {
    return CheckExposure(FindExposure(configuration_, mounts_, project, support::OwnEnvironment()),
                         LoopbackAdvice(configuration_, release_));
  });
  Run("ssh.config", "status", lima::RestartCommand(instance_), [this](const Context&) {
    endpoint_ = lima::ReadSshConfig(configuration_.directory(), instance_);
    return CheckSshConfig(configuration_, endpoint_);
  });
}

void Doctor::CheckGuest() {
  const auto with_server = [this](const auto& check) {
    return [this, check](const Context& context) { return check(*server_, mounts_, context); };
  };
  const std::string shell = "limactl shell " + instance_;
  Run("connect", "ssh.config",
      support::Format("wait if it is booting, else: {}", lima::RestartCommand(instance_)),
      [this](const Context& context) {
        guest_ = configuration_.closed()
                     ? connection::ConnectGuestWithRetries(lima_home_, instance_)
                     : ssh::Connect(endpoint_, {}, context);
        const Context after_boot = Context().WithTimeout(kCheckTimeout);
        return Passed(support::Format(
            "sshd accepts {}, whose home is {}; {}", endpoint_.user,
            guest_->RealPath(".", after_boot),
            ssh::HasRecordedHostKey(endpoint_)
                ? "its host key is the recorded one"
                : "no host key is recorded for it: Lima 2.3 or later does at the next start"));
      });
  Run("clock", "connect", support::Format("look into the guest with {}", shell),
      [this](const Context& context) {
        return CheckClock(configuration_, ReadClock(*guest_, context));
      });
  if (configuration_.closed()) {
    Run("network", "connect",
        support::Format("let no agent work there: {}. If it stays open, take your work and create "
                        "the instance again",
                        lima::RestartCommand(instance_)),
        [this](const Context& context) {
          const std::string open = connection::FindOpenWays(configuration_, *guest_, context);
          if (open.empty()) return Passed("closed");
          throw support::Error("the network of {} is not closed: {}", instance_, open);
        });
    Run("proxy", "connect", "look into the guest's sshd_config",
        [this](const Context& context) { return CheckProxy(endpoint_, context); });
    Run("allowed", "configuration", "nothing is allowed until that is fixed",
        [this](const Context&) { return CheckAllowed(configuration_); });
  }
  if (!culprits_.contains("configuration") &&
      !(copy::ListFacts(configuration_.directory()).empty() &&
        copy::ListSetAside(configuration_.directory()).empty())) {
    Run("copies", "configuration", support::Format("look into the guest with {}", shell),
        [&](const Context& context) { return ListCopies(configuration_, guest_.get(), context); });
  }
  Run("server", "connect", "start it yourself to see its messages", [this](const Context& context) {
    server_ = std::make_unique<ServerUnderTest>(ServerCommand());
    return CheckServer(*server_, context);
  });
  Run("mounted", "server", lima::RestartCommand(instance_), with_server(CheckMounted));
  Run("shell", "mounted", support::Format("check the start-up files with {}", shell),
      with_server(CheckShell));
  Run("write", "shell",
      "let the guest's user write there (owner, mode and disk space on the host), or mount it "
      "read-only",
      with_server(CheckWrite));
}

}  // namespace

std::vector<Finding> Examine(const std::string& instance, const std::string& path,
                             const exposure::GuestReach& reach,
                             const std::function<void(const Finding&)>& on_finding) {
  return Doctor(instance, path, reach, on_finding).Examine();
}

}  // namespace doctor
