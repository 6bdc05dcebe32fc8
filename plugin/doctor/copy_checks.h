#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "guest/guest.h"
#include "support/context.h"

/// Checks what work in a copy needs.
namespace doctor {

/// The projects that have a copy, by their paths on the host. Needs no lock.
std::vector<std::string> ListCopies(const std::filesystem::path& instance_directory);

/// What the guest has for copies.
struct CopyGuest {
  std::string git;             ///< as `git --version` prints it; empty without one
  bool may_sudo = false;       ///< without a password
  std::string free_megabytes;  ///< in the home directory
};

CopyGuest QueryCopyGuest(guest::Guest& guest, const support::Context& context);

/// `git` is the host's. Warns of what is missing.
Finding CheckCopies(const std::vector<std::string>& projects,
                    const std::optional<std::filesystem::path>& git, const CopyGuest& guest,
                    const support::Context& context);

}  // namespace doctor
