#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "copy/side_repository.h"
#include "doctor/finding.h"
#include "guest/guest.h"
#include "lima/configuration.h"
#include "support/context.h"

/// Checks what work in a copy needs.
namespace doctor {

/// The project of the copy, and what was not taken of it.
std::string DescribeCopy(const lima::InstanceConfiguration& instance, const copy::CopyFacts& facts,
                         guest::Guest& guest);

/// What the guest has for copies.
struct CopyGuest {
  std::string git;             ///< as `git --version` prints it; empty without one
  bool may_sudo = false;       ///< without a password
  std::string free_megabytes;  ///< in the home directory
};

CopyGuest QueryCopyGuest(guest::Guest& guest, const support::Context& context);

/// `copies` are those there are, and `git` is the host's. Warns of what is missing.
Finding CheckCopies(const std::vector<std::string>& copies,
                    const std::optional<std::filesystem::path>& git, const CopyGuest& guest,
                    const support::Context& context);

}  // namespace doctor
