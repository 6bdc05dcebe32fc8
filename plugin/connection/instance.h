#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "connection/opened_connection.h"
#include "lima/configuration.h"
#include "paths/roots.h"
#include "support/context.h"

namespace connection {

/// Which instance to connect to, and what of it the agent may use.
struct InstanceOptions {
  std::filesystem::path lima_home;
  std::string name;
  paths::RootOptions roots;
  std::string working_directory;  ///< this program's, on the host
  bool allow_settings = false;    ///< `--allow-settings`: see paths/protected_settings.h
  /// How long the guest may be silent, asked for a sign of life in between, before the connection
  /// counts as lost. At least kShortestGuestSilence.
  std::chrono::milliseconds guest_silence = std::chrono::minutes(1);
};

/// A guest that is busy must have the time to answer.
inline constexpr std::chrono::seconds kShortestGuestSilence{4};

/// The roots as far as Lima's files tell, without any guest: good enough to be shown, never to be
/// enforced. Throws lima::ConfigurationError when the files cannot be used, support::CallError when
/// a `--root` lies under no mount.
std::vector<paths::Root> ShownRoots(const InstanceOptions& options,
                                    const lima::InstanceConfiguration& configuration);

/// Reads Lima's files and connects: one attempt. Lima writes ssh.config anew at each start of the
/// VM, and mounts may have been edited, so everything is read again each time; only
/// where the roots that are no mounts led is kept, in `pins`. Throws InstanceNotRunning
/// (patient_opener.h), support::ConnectionLost when the guest cannot be reached, support::Stopped,
/// or another support::CallError that says what to do: its files are not right, no key is let in, a
/// `--root` cannot be used.
OpenedConnection OpenInstance(const InstanceOptions& options, paths::PinnedRoots& pins,
                              const support::Context& context);

}  // namespace connection
