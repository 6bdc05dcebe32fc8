#pragma once

#include <string>
#include <vector>

namespace bench {

/// Runs a program with its output thrown away; milliseconds from its start to its end. Throws
/// std::runtime_error when it does not end with 0.
double TimeProgram(const std::vector<std::string>& arguments);

/// Ways to the same guest that everybody has.
class Reference {
 public:
  /// `ssh_config` and `host` as Lima writes them. The shared connection's socket is made in
  /// `directory`. With `guest_is_here`, programs "in the guest" are started directly.
  Reference(std::string ssh_config, std::string host, const std::string& directory,
            bool guest_is_here);
  ~Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  /// A command in a login shell, as `limactl shell` runs it, over a shared connection.
  [[nodiscard]] double LoginShell(const std::string& command) const;

  /// The same over a connection of its own.
  [[nodiscard]] double Connect(const std::string& command) const;

  /// A command for the guest's sh, without the way there where that can be had.
  [[nodiscard]] double InGuest(const std::string& command) const;

  /// One command of `sftp`, over the shared connection.
  [[nodiscard]] double Sftp(const std::string& command) const;

 private:
  [[nodiscard]] std::vector<std::string> Ssh(bool shared) const;

  std::string ssh_config_;
  std::string host_;
  std::string control_path_;
  std::string batch_file_;
  bool guest_is_here_;
};

}  // namespace bench
