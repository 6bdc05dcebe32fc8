#include "doctor/doctor.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "connection/guest_facts.h"
#include "connection/ssh_endpoint.h"
#include "doctor/guest_checks.h"
#include "doctor/installation.h"
#include "doctor/instance_checks.h"
#include "doctor/mount_checks.h"
#include "doctor/round_trip.h"
#include "doctor/settings_check.h"
#include "lima/configuration.h"
#include "lima/home.h"
#include "lima/host.h"
#include "lima/instance_name.h"
#include "lima/ssh_config.h"
#include "ssh/connection.h"
#include "support/errors.h"

namespace doctor {
namespace {

using support::Context;

/// For what looks at files, and asks a program of this host or the host agent.
constexpr std::chrono::seconds kHereTimeout{10};
/// For one question to the guest, whose processors may be translated ones.
constexpr std::chrono::seconds kGuestTimeout{20};
constexpr std::chrono::seconds kRoundTripTimeout{60};

/// Two of the three files of a configuration are common to all instances, and limactl edits the
/// third only while the instance is stopped.
std::string MendAdvice(const std::string& instance) {
  return "mend it in the file that is named; limactl edit " + instance +
         " opens the instance's own lima.yaml while it is stopped";
}

/// The checks share what the earlier ones have found; Check::needs guards the access.
class Doctor {
 public:
  Doctor(const Options& options, const Examination::Observer& on_result)
      : options_(options), examination_(on_result) {}

  std::vector<Result> Examine() {
    ExamineInstallation();
    ExamineInstance();
    ExamineConnection();
    ExamineGuest();
    ExamineRoundTrip();
    return examination_.results();
  }

 private:
  void ExamineInstallation();
  void ExamineInstance();
  void ExamineConnection();
  void ExamineGuest();
  void ExamineRoundTrip();
  [[nodiscard]] Finding Connect(const Context& context);
  [[nodiscard]] Finding LookAtMounts() const;
  [[nodiscard]] Finding LookAtMounted(const Context& context);
  [[nodiscard]] std::vector<std::string> ServerCommand() const;
  [[nodiscard]] std::optional<std::string> MountedDirectory() const;

  const Options& options_;
  Examination examination_;

  std::optional<std::filesystem::path> limactl_;
  std::vector<std::filesystem::path> plugins_;
  std::filesystem::path own_program_;
  std::filesystem::path lima_home_;
  lima::InstanceConfiguration configuration_;
  lima::SshEndpoint endpoint_;
  std::shared_ptr<ssh::Connection> connection_;
  std::optional<std::vector<lima::Mount>> mounts_;  ///< once the guest has been asked
  MountedState mounted_;
};

void Doctor::ExamineInstallation() {
  limactl_ = FindProgram("limactl", options_.path);
  examination_.Run({"limactl",
                    {},
                    kHereTimeout,
                    "run `limactl --version` to see what is wrong",
                    [this](const Context& context) { return CheckLimactl(limactl_, context); }});
  examination_.Run({"plugin", {}, kHereTimeout, "", [this](const Context&) {
                      own_program_ = OwnProgram();
                      plugins_ = FindPlugins(PluginDirectories(limactl_, options_.path));
                      return CheckPlugin(plugins_, own_program_);
                    }});
}

void Doctor::ExamineInstance() {
  examination_.Run({"name",
                    {},
                    kHereTimeout,
                    "limactl list shows the instances there are",
                    [this](const Context&) {
                      lima::CheckInstanceName(options_.instance);
                      return Passed(options_.instance);
                    }});
  examination_.Run(
      {"instance", {"name"}, kHereTimeout, "set LIMA_HOME to Lima's home", [this](const Context&) {
         lima_home_ = lima::HomeDirectory();
         return CheckInstance(lima_home_, options_.instance);
       }});
  examination_.Run({"configuration",
                    {"instance"},
                    kHereTimeout,
                    MendAdvice(options_.instance),
                    [this](const Context&) {
                      configuration_ = lima::LoadConfiguration(lima_home_, options_.instance);
                      return CheckConfiguration(configuration_);
                    }});
  examination_.Run(
      {"status", {"configuration"}, kHereTimeout, "limactl list", [this](const Context&) {
         return CheckStatus(configuration_);
       }});
  examination_.Run({"mounts",
                    {"configuration"},
                    kHereTimeout,
                    MendAdvice(options_.instance),
                    [this](const Context&) { return LookAtMounts(); }});
  examination_.Run({"settings",
                    {"configuration"},
                    kHereTimeout,
                    MendAdvice(options_.instance),
                    [this](const Context&) {
                      std::error_code gone;
                      return CheckSettings(
                          lima::ListLocations(configuration_, lima::ReadHostFacts(), {}),
                          std::filesystem::current_path(gone).string(), options_.instance);
                    }});
}

Finding Doctor::LookAtMounts() const {
  lima::GuestFacts facts;
  try {
    facts.user = lima::ReadSshConfig(configuration_.directory(), configuration_.name).user;
  } catch (const lima::ConfigurationError&) {
    // The next check says why: here, the mount points that depend on it are left out.
  }
  if (configuration_.plain) {
    return Warning("the configuration says plain: true, so that the instance mounts nothing",
                   "an instance without it can mount the project: limactl stop " +
                       options_.instance + ", then limactl edit " + options_.instance + " --start");
  }
  return CheckMounts(lima::ListLocations(configuration_, lima::ReadHostFacts(), facts),
                     options_.instance, examination_.Works("status"));
}

void Doctor::ExamineConnection() {
  const std::string restart = RestartCommand(options_.instance);
  examination_.Run({"ssh.config", {"status"}, kHereTimeout, restart, [this](const Context&) {
                      endpoint_ =
                          lima::ReadSshConfig(configuration_.directory(), options_.instance);
                      return CheckSshConfig(endpoint_);
                    }});
  examination_.Run({"port", {"ssh.config"}, kHereTimeout, restart, [this](const Context&) {
                      return CheckPort(configuration_, endpoint_);
                    }});
  examination_.Run({"key", {"ssh.config"}, kHereTimeout, "", [this](const Context&) {
                      return CheckKeys(endpoint_);
                    }});
  // Not on a port that may be another virtual machine's.
  examination_.Run({"connect",
                    {"ssh.config", "port", "key"},
                    kGuestTimeout,
                    "if it has just been started, wait until it has booted; else: " + restart,
                    [this](const Context& context) { return Connect(context); }});
}

Finding Doctor::Connect(const Context& context) {
  ssh::ConnectionOptions options;
  options.operation_timeout = kGuestTimeout;
  connection_ = ssh::Connection::Open(connection::ToEndpoint(endpoint_), options, context);
  return Passed("sshd lets " + endpoint_.user + " in");
}

void Doctor::ExamineGuest() {
  examination_.Run({"sftp",
                    {"connect"},
                    kGuestTimeout,
                    "install OpenSSH's sftp-server in the guest, and name it in its sshd_config",
                    [this](const Context& context) { return CheckSftp(*connection_, context); }});
  examination_.Run({"shell",
                    {"connect"},
                    kGuestTimeout,
                    "see with limactl shell " + options_.instance + " what the start-up files do",
                    [this](const Context& context) {
                      return CheckShell(*connection_, lima::LoginShell(configuration_), context);
                    }});
  examination_.Run({"git",
                    {"connect"},
                    kGuestTimeout,
                    "mend the login shell, then try again",
                    [this](const Context& context) { return CheckGit(*connection_, context); }});
  examination_.Run({"find",
                    {"connect"},
                    kGuestTimeout,
                    "mend the login shell, then try again",
                    [this](const Context& context) { return CheckFind(*connection_, context); }});
  examination_.Run({"mounted",
                    {"mounts", "sftp"},
                    kGuestTimeout,
                    "limactl shell " + options_.instance + " mount",
                    [this](const Context& context) { return LookAtMounted(context); }});
  examination_.Run({"write",
                    {"mounts", "sftp"},
                    kGuestTimeout,
                    "see with limactl shell " + options_.instance + " whether its mounts answer",
                    [this](const Context& context) {
                      if (!mounts_)
                        return Finding{Mark::kSkipped, "cannot be tried: mounted failed", ""};
                      return CheckWriteAccess(*mounts_, mounted_, *connection_, context);
                    }});
}

Finding Doctor::LookAtMounted(const Context& context) {
  const lima::GuestFacts facts =
      connection::FindGuestFacts(configuration_, endpoint_.user, *connection_, context);
  const std::vector<lima::Mount> mounts =
      lima::EvaluateMounts(configuration_, lima::ReadHostFacts(), facts);
  mounted_ = AskMounted(configuration_, mounts, *connection_, context);
  mounts_ = mounts;
  return CheckMounted(*mounts_, mounted_, options_.instance);
}

void Doctor::ExamineRoundTrip() {
  connection_.reset();
  examination_.Run({"round trip",
                    {"sftp", "shell"},
                    kRoundTripTimeout,
                    "start the server yourself to see what it says on standard error",
                    [this](const Context& context) {
                      return CheckRoundTrip(ServerCommand(), MountedDirectory(), context);
                    }});
}

/// As agents start it; this program itself where limactl is missing or knows no plugin.
std::vector<std::string> Doctor::ServerCommand() const {
  if (!examination_.Works("limactl") || plugins_.empty()) {
    return {own_program_.string(), "serve", options_.instance};
  }
  return {limactl_->string(), "mcp", "serve", options_.instance};
}

std::optional<std::string> Doctor::MountedDirectory() const {
  if (!mounts_) return std::nullopt;
  for (std::size_t i = 0; i < mounts_->size(); ++i) {
    if (IsThere(mounted_, i)) return (*mounts_)[i].location;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Result> Examine(const Options& options, const Examination::Observer& on_result) {
  return Doctor(options, on_result).Examine();
}

}  // namespace doctor
