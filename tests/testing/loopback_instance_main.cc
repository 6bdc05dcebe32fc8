// SPDX-License-Identifier: Apache-2.0
// Runs one loopback instance until standard input ends.
//
//   loopback-instance LIMA_HOME NAME [LOCATION[:GUEST][:w]]… [yaml=LINE]… [sshd=LINE]…
//
// Prints one line, the port, when sshd listens.

#include <unistd.h>

#include <array>
#include <exception>
#include <iostream>

#include "testing/loopback_instance.h"
#include "testing/settings.h"

int main(int argc, char** argv) {
  using testing_support::LoopbackInstance;
  if (argc < 3) {
    std::cerr << "usage: loopback-instance LIMA_HOME NAME [LOCATION[:GUEST][:w]]…\n";
    return 1;
  }
  try {
    testing_support::LeaveOutSettings();
    const LoopbackInstance instance(LoopbackInstance::Parse(argv[1], {argv + 2, argv + argc}));
    std::cout << instance.port() << std::endl;
    std::array<char, 256> ignored{};
    while (::read(STDIN_FILENO, ignored.data(), ignored.size()) > 0) {
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "loopback-instance: " << error.what() << '\n';
    return 1;
  }
}
