#pragma once

#include <memory>
#include <string>

#include "testing/child_process.h"
#include "testing/loopback_instance.h"
#include "testing/temporary_directory.h"

namespace bench {

/// Where everything takes place.
struct Place {
  std::unique_ptr<testing_support::TemporaryDirectory> temporary;
  std::unique_ptr<testing_support::LoopbackInstance> loopback;
  testing_support::ChildProcess::Options server;
  std::string instance;
  std::string ssh_config;
  std::string host;       ///< as ssh_config names it
  std::string directory;  ///< the host's name, and the guest's where the mount has no other
};

/// With no name of an instance it makes a loopback instance. `server` is the program to measure.
/// Throws std::runtime_error.
Place PreparePlace(const std::string& server, const std::string& instance);

/// Runs `script` with sh in the place's directory, on the host: what it makes there is mounted in
/// the guest, which may take minutes for ten thousand files. Throws std::runtime_error when it does
/// not end with 0.
void Prepare(const Place& place, const std::string& script);

/// Removes what PreparePlace has made in the guest.
void CleanUp(const Place& place);

}  // namespace bench
