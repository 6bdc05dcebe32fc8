#pragma once

#include <string>

#include "lima/mounts.h"

namespace lima {

/// The tag under which the guest mounts it by 9p or virtiofs: "lima-" and the first eight bytes, in
/// hexadecimal, of the SHA-256 of "location:mountPoint". Rule: MountTag in Lima's
/// pkg/limayaml/defaults.go. Before Lima had it, the tags were "mount0", "mount1", … by the entry's
/// place in the list.
std::string MountTag(const Mount& mount);

}  // namespace lima
