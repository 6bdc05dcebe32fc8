// SPDX-License-Identifier: Apache-2.0
// A hostile SFTP server for sshd_config's "Subsystem sftp PROGRAM LIE". Every path is a directory,
// except "…/file", a file of ten bytes, and names with "new", which do not exist. One kind of
// answer is a lie: see Lies().

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "testing/files.h"
#include "unit/server/ssh/sftp/sftp_bytes.h"

namespace {

using namespace sftp_bytes;

/// Types of requests, and codes of replies.
enum : int { kInit = 1, kOpen = 3, kClose, kRead, kLStat = 7, kFStat, kOpenDirectory = 11 };
enum : int { kReadDirectory = 12, kRealPath = 16, kStat, kExtended = 200 };
enum : std::uint32_t { kEndOfFile = 1, kNoSuchFile, kUnsupported = 8 };

constexpr std::string_view kContent = "0123456789";

/// Always answered honestly: it makes the guest this machine, which needs no mount check.
constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";

struct Request {
  int type = 0;
  std::uint32_t id = 0;
  std::string text;  ///< the path, or the handle
  std::string rest;
};

void Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written <= 0) std::_Exit(0);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string Receive(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const ssize_t got = ::read(STDIN_FILENO, bytes.data() + at, size - at);
    if (got <= 0) std::_Exit(0);
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::uint32_t ToNumber(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = (number << 8U) | static_cast<unsigned char>(bytes.at(i));
  return number;
}

Request Next() {
  std::string packet = Receive(ToNumber(Receive(4)));
  Request request;
  request.type = static_cast<unsigned char>(packet.at(0));
  request.id = ToNumber(packet.substr(1));
  if (request.type == kInit || packet.size() < 9) return request;
  const std::size_t length = ToNumber(packet.substr(5));
  request.text = packet.substr(9, length);
  request.rest = packet.substr(9 + length);
  return request;
}

std::string Names(const Request& request, std::uint32_t count, const std::string& name) {
  std::string names;
  for (std::size_t i = 0; i < count; ++i) names += Name(name);
  return sftp_bytes::Names(request.id, count, names);
}

std::string LastName(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

bool directory_was_read = false;

std::string Honest(const Request& request, std::uint64_t size = kContent.size()) {
  const bool is_file = LastName(request.text) == "file";
  switch (request.type) {
    case kInit:
      return Version();
    case kStat:
    case kLStat:
    case kFStat:
      if (LastName(request.text).find("new") != std::string::npos) {
        return Status(request.id, kNoSuchFile);
      }
      return is_file ? Attributes(request.id, size, 0100644)
                     : Attributes(request.id, 4096, 0040755);
    case kRealPath:
      return Names(request, 1, request.text);
    case kOpen:
    case kOpenDirectory:
      directory_was_read = false;
      return Handle(request.id, request.text);
    case kClose:
      return Status(request.id, 0);
    case kReadDirectory:
      if (std::exchange(directory_was_read, true)) return Status(request.id, kEndOfFile);
      return Names(request, 1, "file");
    case kRead:
      if (request.rest.substr(0, 8) != Number64(0)) return Status(request.id, kEndOfFile);
      return Data(request.id, request.text == kBootId ? testing_support::ReadFile(kBootId)
                                                      : std::string(kContent));
    default:
      return Status(request.id, kUnsupported);
  }
}

using Answer = std::function<std::string(const Request&)>;

/// Honest except for one type of request.
Answer To(int type, Answer lie) {
  return [type, lie = std::move(lie)](const Request& request) {
    return request.type == type ? lie(request) : Honest(request);
  };
}

/// Honest except for the first requests of a call.
Answer ToLook(std::function<std::string(const Request&)> lie) {
  return [lie = std::move(lie)](const Request& request) {
    const bool is_first = request.type == kLStat || request.type == kOpenDirectory;
    return is_first ? lie(request) : Honest(request);
  };
}

Answer DirectoryOf(const std::string& name) {
  return To(kReadDirectory, [name](const Request& request) {
    const std::string honest = Honest(request);
    return honest == Status(request.id, kEndOfFile) ? honest : Names(request, 1, name);
  });
}

Answer RealPathOf(const std::string& path) {
  return To(kRealPath, [path](const Request& request) { return Names(request, 1, path); });
}

/// Fits into a packet.
constexpr std::size_t kLong = 200'000;

/// Unrequested answers, for ever.
[[noreturn]] void Flood() {
  const std::string answers = Data(1, std::string(kLong, 'x'));
  while (true) Send(answers);
}

const std::map<std::string, Answer>& Lies() {
  static const std::map<std::string, Answer> lies = {
      {"flood", To(kInit, [](const Request&) -> std::string { Flood(); })},
      {"unrequested-reply",
       To(kInit, [](const Request& request) { return Honest(request) + Status(77, 0); })},
      {"cut-limits",
       [](const Request& request) {
         if (request.type == kInit) return OpenSshVersion();
         return request.type == kExtended ? Packet(201, Number32(request.id)) : Honest(request);
       }},
      {"late-flood", ToLook([](const Request&) -> std::string { Flood(); })},
      {"wrong-id", ToLook([](Request request) {
         request.id += 1000;
         return Honest(request);
       })},
      {"two-replies",
       To(kRealPath, [](const Request& request) { return Honest(request) + Honest(request); })},
      {"unknown-kind",
       ToLook([](const Request& request) { return Packet(99, Number32(request.id)); })},
      {"wrong-kind", ToLook([](const Request& request) { return Data(request.id, "x"); })},
      {"endless-packet", ToLook([](const Request&) { return Number32(0xFFFFFFFFU); })},
      {"cut-packet", ToLook([](const Request& request) {
         return Packet(105, Number32(request.id) + Number32(0xFFFFFFFFU));
       })},
      {"long-words", ToLook([](const Request& request) {
         return Packet(101, Number32(request.id) + Number32(4) +
                                String("\x1b[2J" + std::string(kLong, 'w')) + String(""));
       })},
      {"endless-names",
       To(kReadDirectory, [](const Request& request) { return Names(request, 2000, "name"); })},
      {"endless-long-names",
       To(kReadDirectory,
          [](const Request& request) { return Names(request, 1, std::string(kLong / 2, 'n')); })},
      {"count-of-names", To(kReadDirectory,
                            [](const Request& request) {
                              return sftp_bytes::Names(request.id, 0xFFFFFFFFU, Name("file"));
                            })},
      {"name-above", DirectoryOf("../secret")},
      {"name-with-nul", DirectoryOf(std::string("a\0b", 3))},
      {"empty-name", DirectoryOf("")},
      {"odd-name", DirectoryOf("\x1b[2J\xE2\x80\xAE\xFF\n\"")},
      {"real-path-above", RealPathOf("/mnt/../../etc")},
      {"real-path-relative", RealPathOf("etc")},
      {"real-path-with-nul", RealPathOf(std::string("/mnt\0/", 6))},
      {"real-path-elsewhere", RealPathOf("/etc")},
      {"huge-size", [](const Request& request) { return Honest(request, 0x7FFFFFFFFFFFFFFFU); }},
      {"small-size", [](const Request& request) { return Honest(request, 1); }},
      {"too-much-data",
       To(kRead, [](const Request& request) { return Data(request.id, std::string(kLong, 'x')); })},
      {"endless-file", To(kRead,
                          [](const Request& request) {
                            const std::uint32_t wanted = ToNumber(request.rest.substr(8));
                            return Data(request.id, std::string(wanted, 'x'));
                          })},
      {"hanging-open", To(kOpen,
                          [](const Request& request) {
                            if (request.text.find("hang") != std::string::npos) ::pause();
                            return Honest(request);
                          })},
      {"no-data", To(kRead, [](const Request& request) { return Data(request.id, ""); })},
  };
  return lies;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string lie = argc == 2 ? argv[1] : "";
  const auto found = Lies().find(lie);
  if (found == Lies().end()) {
    std::cerr << "usage: hostile-sftp-server LIE; LIE is one of";
    for (const auto& [name, answer] : Lies()) std::cerr << ' ' << name;
    std::cerr << '\n';
    return 2;
  }
  while (true) {
    const Request request = Next();
    Send(request.text == kBootId ? Honest(request) : found->second(request));
  }
}
