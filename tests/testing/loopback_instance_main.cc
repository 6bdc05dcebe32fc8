// Runs one loopback instance until standard input ends.
//
//   loopback-instance LIMA_HOME NAME [--mount LOCATION[:MOUNTPOINT][:w]]… [--sshd-option LINE]…
//
// Prints one line, the port, when sshd listens.

#include <unistd.h>

#include <array>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>

#include "testing/loopback_instance.h"

namespace {

using testing_support::LoopbackInstance;

LoopbackInstance::Mount ParseMount(std::string text) {
  LoopbackInstance::Mount mount;
  if (text.ends_with(":w")) {
    mount.writable = true;
    text.resize(text.size() - 2);
  }
  const std::size_t colon = text.find(':');
  mount.location = text.substr(0, colon);
  if (colon != std::string::npos) mount.mount_point = text.substr(colon + 1);
  return mount;
}

LoopbackInstance::Options ParseArguments(std::span<char*> arguments) {
  if (arguments.size() < 3 || arguments.size() % 2 == 0) {
    throw std::runtime_error("usage: loopback-instance LIMA_HOME NAME [OPTION VALUE]…");
  }
  LoopbackInstance::Options options;
  options.lima_home = arguments[1];
  options.name = arguments[2];
  for (std::size_t i = 3; i + 1 < arguments.size(); i += 2) {
    const std::string option = arguments[i];
    if (option == "--mount") {
      options.mounts.push_back(ParseMount(arguments[i + 1]));
    } else if (option == "--sshd-option") {
      options.sshd_options.emplace_back(arguments[i + 1]);
    } else {
      throw std::runtime_error("unknown option " + option);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const LoopbackInstance instance(
        ParseArguments(std::span(argv, static_cast<std::size_t>(argc))));
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
