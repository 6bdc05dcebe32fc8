// SPDX-License-Identifier: Apache-2.0
// What a client of the proxy sends: the head of its request, or the first message of TLS. Each
// answer must stay the same when more bytes follow.

#include <string>

#include "fuzz/input.h"
#include "network/allow_list.h"
#include "network/request.h"

namespace {

void CheckHead(std::string_view bytes) {
  using Kind = network::Head::Kind;
  const network::Head head = network::ParseHead(bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const network::Head earlier = network::ParseHead(bytes.substr(0, size));
    if (earlier.kind == Kind::kIncomplete) continue;
    fuzz::Require(
        earlier.kind == head.kind && earlier.target == head.target && earlier.size == head.size,
        "more bytes do not change the head");
  }
  if (head.kind != Kind::kConnect) return;
  const std::string_view text = bytes.substr(0, head.size);
  fuzz::Require(text.starts_with("CONNECT " + head.target + " HTTP/1."), "it is the first line");
  fuzz::Require(text.ends_with("\r\n\r\n") && text.find("\r\n\r\n") + 4 == text.size(),
                "it ends at the first empty line");
  const auto site = network::ParseSite(head.target);
  if (!site) return;
  fuzz::Require(network::ParseSite(site->Text()) == site, "a site is written as it is read");
  fuzz::Require(
      site->host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos,
      "a name has only letters, digits, - and dots");
}

void CheckHello(std::string_view bytes) {
  const auto name = network::ServerName(bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto earlier = network::ServerName(bytes.substr(0, size));
    fuzz::Require(!earlier || earlier == name, "more bytes do not change the name");
  }
  if (!name || name->empty()) return;
  fuzz::Require(bytes[0] == 22 && bytes[1] == 3, "it is TLS");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kEnough = 2048;  // each prefix is parsed
  fuzz::Input input(data, size < kEnough ? size : kEnough);
  const std::string_view bytes = input.Rest();
  CheckHead(bytes);
  CheckHello(bytes);
  return 0;
}
