// SPDX-License-Identifier: Apache-2.0
#include "run/port_process.h"

#include <iostream>

#include "support/errors.h"
#include "support/program.h"

namespace run {
namespace {

std::vector<std::string> CommandLine(std::vector<std::string> words, const std::string& instance) {
  words.insert(words.begin(), {support::OwnProgram().string(), "port"});
  words.push_back(instance);
  return words;
}

}  // namespace

PortProcess::PortProcess(const std::vector<std::string>& words, const std::string& instance)
    : child_(CommandLine(words, instance), {.output = support::Child::kPipe, .own_session = true}) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto line = child_.ReadLine({});
    if (!line) {
      (void)child_.Finish();
      std::cerr << child_.error();
      throw support::Error("the ports cannot be opened; no agent was started");
    }
    std::cerr << *line << '\n';
  }
}

}  // namespace run
