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

/// The project of the copy, and what was not taken of it, unless the context is stopped before.
std::string DescribeCopy(const lima::InstanceConfiguration& instance, const copy::CopyFacts& facts,
                         guest::Guest& guest, const support::Context& context);

/// What copies need. Versions are as `git --version` prints them, empty without one.
struct CopyNeeds {
  std::string host_git = {};
  std::string git = {};             ///< in the guest
  bool may_sudo = false;            ///< there, without a password
  std::string free_megabytes = {};  ///< in the home directory there
};

/// `git` is the host's.
CopyNeeds QueryCopyNeeds(guest::Guest& guest, const std::optional<std::filesystem::path>& git,
                         const support::Context& context);

/// `copies` are those there are. Warns of what is missing.
Finding CheckCopies(const std::vector<std::string>& copies, const CopyNeeds& needs);

}  // namespace doctor
