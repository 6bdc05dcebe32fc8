#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "connection/opened_connection.h"
#include "guest/guest.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "lima/ssh_config.h"
#include "lima/status.h"
#include "paths/roots.h"
#include "support/context.h"
#include "support/errors.h"

namespace connection {

/// Which instance to connect to, and what of it the agent may use.
struct InstanceOptions {
  std::filesystem::path lima_home;
  std::string name;
  paths::RootOptions roots;
  std::string working_directory;  ///< this program's, on the host
  bool allow_settings = false;    ///< `--allow-settings`
  /// How long the guest may send nothing before the connection counts as lost; keep-alives are sent
  /// in between. At least kShortestGuestSilence.
  std::chrono::milliseconds guest_silence = std::chrono::minutes(1);
};

/// A busy guest needs time to answer.
inline constexpr std::chrono::seconds kShortestGuestSilence{4};

/// The instance is stopped or broken, according to Lima's files.
class InstanceNotRunning : public support::CallError {
 public:
  InstanceNotRunning(const std::string& text, lima::State state) : CallError(text), state_(state) {}

  [[nodiscard]] lima::State state() const { return state_; }

 private:
  lima::State state_;
};

/// The guest user's home directory and uid: one round trip. Only the guest knows them if the
/// configuration does not say, because Lima's default home depends on the version that created the
/// instance. Throws support::CallError if the answer is invalid.
lima::GuestFacts QueryGuestFacts(guest::Guest& guest, const support::Context& context);

/// What EvaluateMounts needs to know of the guest; the guest is queried only for what the
/// configuration does not say. `user` is the one in ssh.config. Throws like QueryGuestFacts.
lima::GuestFacts FindGuestFacts(const lima::InstanceConfiguration& configuration,
                                const std::string& user, guest::Guest& guest,
                                const support::Context& context);

/// The roots according to Lima's files, without the guest: to be shown, not to be enforced. Throws
/// lima::ConfigurationError, and support::CallError if a `--root` is under no mount.
std::vector<paths::Root> ShownRoots(const InstanceOptions& options,
                                    const lima::InstanceConfiguration& configuration);

/// The text of `initialize` for the agent: where it works, which host directories it may use, and
/// what to do about others. Reads Lima's files only. Never throws: the text then says what is wrong
/// with them.
std::string Instructions(const InstanceOptions& options);

/// Reads Lima's files and connects: one attempt. Everything is read again each time, because Lima
/// rewrites ssh.config at each start of the VM. Only the resolved paths of roots that are no mounts
/// are kept, in `pins`. Throws InstanceNotRunning, support::ConnectionLost if the guest cannot be
/// reached, support::Stopped, and support::CallError if the files, the keys or a `--root` cannot be
/// used.
OpenedConnection OpenInstance(const InstanceOptions& options, paths::PinnedRoots& pins,
                              const support::Context& context);

}  // namespace connection
