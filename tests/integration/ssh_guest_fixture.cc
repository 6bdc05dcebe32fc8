#include "integration/ssh_guest_fixture.h"

#include <cstdint>
#include <sstream>

#include "testing/child_process.h"

namespace ssh_guest {

std::string Pattern(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& c : bytes) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return bytes;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  const auto result =
      testing_support::RunProcess({.arguments = {"pgrep", "-P", std::to_string(parent)}});
  std::vector<pid_t> pids;
  std::istringstream lines(result.output);
  for (pid_t pid = 0; lines >> pid;) pids.push_back(pid);
  return pids;
}

pid_t FirstLeafOf(pid_t ancestor) {
  while (true) {
    const std::vector<pid_t> children = ChildrenOf(ancestor);
    if (children.empty()) return ancestor;
    ancestor = children.front();
  }
}

}  // namespace ssh_guest
