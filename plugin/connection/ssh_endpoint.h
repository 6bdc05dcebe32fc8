#pragma once

#include "lima/ssh_config.h"
#include "ssh/endpoint.h"

namespace connection {

/// Where to dial, from what an instance's ssh.config says.
inline ssh::Endpoint ToEndpoint(const lima::SshEndpoint& from) {
  ssh::Endpoint endpoint;
  endpoint.host = from.host;
  endpoint.port = from.port;
  endpoint.user = from.user;
  endpoint.identity_files = from.identity_files;
  endpoint.ciphers = from.ciphers;
  return endpoint;
}

}  // namespace connection
