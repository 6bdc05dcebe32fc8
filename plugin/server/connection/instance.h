// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "lima/ssh_config.h"
#include "lima/status.h"
#include "network/proxy.h"
#include "paths/host_programs.h"
#include "paths/roots.h"
#include "support/context.h"
#include "support/errors.h"
#include "tools/workspace.h"

namespace connection {

/// A directory that is no mount, in place of them. Both throw support::Error if it cannot be
/// used; both are called at each connection.
struct OnlyRoot {
  std::function<paths::Root()> find;
  /// What it returns is held as long as the connection is used.
  std::function<std::shared_ptr<const void>(const std::vector<lima::Mount>&, guest::Guest&,
                                            const support::Context&)>
      use;
};

struct InstanceOptions {
  std::filesystem::path lima_home;
  std::string name;
  paths::RootOptions roots;
  std::optional<OnlyRoot> only_root;                ///< of `--copy`
  std::string working_directory;                    ///< this program's, on the host
  bool allow_settings = false;                      ///< `--allow-settings`
  paths::HostPrograms host_programs;                ///< whose files are not written without that
  std::shared_ptr<network::Proxy> proxy = nullptr;  ///< for a closed guest; may be null
};

/// The instance is stopped or broken, according to Lima's files.
class InstanceNotRunning : public support::Error {
 public:
  InstanceNotRunning(const std::string& text, lima::State state) : Error(text), state_(state) {}

  [[nodiscard]] lima::State state() const { return state_; }

 private:
  lima::State state_;
};

/// Throws InstanceNotRunning.
void RequireRunning(const lima::InstanceConfiguration& configuration);

/// The roots according to Lima's files, without asking the guest; for display only, never for
/// enforcement. Throws support::Error, also if a `--root` is not under
/// a mount.
std::vector<paths::Root> ShownRoots(const InstanceOptions& options,
                                    const lima::InstanceConfiguration& configuration);

/// The `instructions` of `initialize`: where the agent works, which host directories it may use,
/// and what to do about others. Reads only Lima's files. Never throws; if they are invalid, the
/// text has the error.
std::string Instructions(const InstanceOptions& options);

/// One attempt to connect, without roots. Throws as OpenInstance does.
std::shared_ptr<guest::Guest> ConnectGuest(const InstanceOptions& options,
                                           const support::Context& context);

/// Reads Lima's files and makes one attempt to connect. Reads the files each time, because Lima
/// rewrites ssh.config whenever the VM starts. `pins` keeps the resolved paths of roots that are
/// not mounts. Throws InstanceNotRunning, StillBooting, support::Stopped, support::ConnectionLost
/// if the guest cannot be reached, and support::Error if the files, the keys or a `--root` cannot
/// be used.
tools::Workspace OpenInstance(const InstanceOptions& options,
                              const std::shared_ptr<paths::PinnedRoots>& pins,
                              const support::Context& context);

}  // namespace connection
