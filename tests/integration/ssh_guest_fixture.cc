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

std::string ReadAll(guest::OpenFile& file, std::size_t length, const support::Context& context) {
  std::string bytes;
  while (bytes.size() < length) {
    const std::string some = file.ReadSome(bytes.size(), length - bytes.size(), context);
    if (some.empty()) break;
    bytes += some;
  }
  return bytes;
}

std::vector<guest::DirectoryEntry> List(guest::Guest& guest, const std::string& path,
                                        const support::Context& context) {
  guest::Reply reply = guest.Execute(guest::Request::OpenDirectory(path), context);
  return ReadNames(guest::OpenFile(guest, reply.As<guest::Handle>()), context);
}

pid_t SshGuest::FirstServer() const {
  pid_t pid = instance_->SessionPids().front();
  while (true) {
    const auto children =
        testing_support::RunProcess({.arguments = {"pgrep", "-P", std::to_string(pid)}});
    std::istringstream lines(children.output);
    if (!(lines >> pid)) return pid;
  }
}

}  // namespace ssh_guest
