// SPDX-License-Identifier: Apache-2.0
// The three configuration files of an instance and their templates.

#include <string>

#include "fuzz/input.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "support/errors.h"
#include "support/paths.h"

namespace {

bool IsCleanAndAbsolute(const std::string& path) {
  return path.starts_with('/') && support::CleanPath(path) == path &&
         path.find('\0') == std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view defaults = input.Until('\0');
  const std::string_view main = input.Until('\0');
  const std::string_view override_text = input.Rest();
  try {
    const lima::InstanceConfiguration configuration =
        lima::MergeConfiguration("/home/user/.lima", "default", defaults, main, override_text);
    static_cast<void>(lima::LoginShell(configuration));
    const lima::HostFacts host{"/home/user", "user", 1000, "/tmp"};
    for (const lima::Mount& mount : lima::ListMounts(configuration, host)) {
      fuzz::Require(IsCleanAndAbsolute(mount.location), "a location is an absolute clean path");
      fuzz::Require(IsCleanAndAbsolute(mount.mount_point), "so is a mountPoint");
      fuzz::Require(!configuration.plain, "a plain instance has no mounts");
    }
  } catch (const support::Error& error) {
    fuzz::Require(error.what()[0] != '\0', "an error says what is wrong");
  }
  return 0;
}
