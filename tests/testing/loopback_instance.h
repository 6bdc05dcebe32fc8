// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "testing/child_process.h"
#include "testing/fake_host_agent.h"

namespace testing_support {

/// An instance without a virtual machine: an instance directory as limactl makes it, with an sshd
/// of this machine on a loopback port. limactl reports it as running. Works as root and as an
/// ordinary user; needs sshd. The user's $HOME is an empty directory of the
/// instance. The destructor stops it and leaves its files.
class LoopbackInstance {
 public:
  struct Mount {
    std::string location;
    std::string mount_point;  ///< empty: the location
    bool writable = false;
  };
  struct Options {
    std::filesystem::path lima_home;  ///< made if missing; shared by several instances
    std::string name = "default";
    std::vector<Mount> mounts;
    /// Lines of sshd_config; they override ours. A line "Subsystem …" replaces that of SFTP, and
    /// "Subsystem sftp hooks FILE" is the program sftp_hooks with that file.
    std::vector<std::string> sshd_options;
    std::string lima_yaml;  ///< further lines of lima.yaml
  };

  /// The options of `NAME [LOCATION[:GUEST][:w]]… [yaml=LINE]… [sshd=LINE]…`.
  static Options Parse(std::filesystem::path lima_home, const std::vector<std::string>& words);

  /// Creates the directory and starts sshd; returns when it listens. Throws std::runtime_error with
  /// sshd's output.
  explicit LoopbackInstance(Options options);
  ~LoopbackInstance();
  LoopbackInstance(const LoopbackInstance&) = delete;
  LoopbackInstance& operator=(const LoopbackInstance&) = delete;

  /// Kills sshd and its sessions, and removes the pid files and ha.sock: limactl reports Stopped.
  void Stop();

  /// Starts again, on another port, with a new host key.
  void Start();

  /// Writes another port into ssh.config, which the host agent then reports, too.
  void WritePort(std::uint16_t port);

  [[nodiscard]] const std::string& name() const { return options_.name; }
  [[nodiscard]] const std::filesystem::path& lima_home() const { return options_.lima_home; }
  [[nodiscard]] std::filesystem::path directory() const;
  [[nodiscard]] std::string identity_file() const;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& user() const { return user_; }

  /// The listening sshd; its children serve the sessions.
  [[nodiscard]] pid_t sshd_pid() const { return sshd_->pid(); }

  /// Process ids of the sshd processes that serve a session, oldest first.
  [[nodiscard]] std::vector<pid_t> SessionPids() const;

 private:
  void WriteStaticFiles();
  void WriteRunningFiles() const;
  void StartHostAgent(std::uint16_t port);
  bool TryStartSshd(std::uint16_t port);

  Options options_;
  std::string user_;
  std::uint16_t port_ = 0;
  std::unique_ptr<ChildProcess> sshd_;
  std::unique_ptr<FakeHostAgent> host_agent_;
};

}  // namespace testing_support
