// SPDX-License-Identifier: Apache-2.0
// An instance's ssh.config.

#include "lima/ssh_config.h"

#include <string>

#include "fuzz/input.h"
#include "support/errors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  try {
    const lima::SshEndpoint endpoint = lima::ParseSshConfig(input.Rest(), "default", "ssh.config");
    fuzz::Require(!endpoint.host.empty() && endpoint.host.front() != '-', "there is a host");
    fuzz::Require(endpoint.port != 0, "there is a port");
    fuzz::Require(!endpoint.user.empty(), "there is a user");
    fuzz::Require(!endpoint.identity_files.empty(), "there is a key");
    for (const std::string& file : endpoint.identity_files) {
      fuzz::Require(file.starts_with('/'), "a key's path is absolute");
    }
    fuzz::Require(!endpoint.host_key.name.empty(), "a host key has a name");
    for (const std::string& file : endpoint.host_key.files) {
      fuzz::Require(file.starts_with('/'), "a path of host keys is absolute");
    }
  } catch (const support::Error& error) {
    fuzz::Require(error.what()[0] != '\0', "an error says what is wrong");
  }
  return 0;
}
