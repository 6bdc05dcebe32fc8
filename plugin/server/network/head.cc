// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "network/request.h"

namespace network {
namespace {

constexpr std::string_view kScheme = "http://";

std::string PlainTarget(std::string_view url) {
  url.remove_prefix(kScheme.size());
  std::string target(url.substr(0, url.find_first_of("/?#")));
  target.erase(0, target.find('@') + 1);
  return target.find(':') == std::string::npos ? target + ":80" : target;
}

/// Without its size. `line` ends before the LF.
Head ParseLine(std::string_view line) {
  using enum Head::Kind;
  const std::string_view method = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(method.size() + 1, line.size()));
  const std::string_view target = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(target.size() + 1, line.size()));
  if (method == "CONNECT") {
    const bool fits = !target.empty() && (line == "HTTP/1.1\r" || line == "HTTP/1.0\r");
    return fits ? Head{kConnect, std::string(target)} : Head{kOther};
  }
  return target.starts_with(kScheme) ? Head{kPlainHttp, PlainTarget(target)} : Head{kOther};
}

}  // namespace

Head ParseHead(std::string_view bytes) {
  using enum Head::Kind;
  constexpr std::string_view kEnd = "\r\n\r\n";
  bytes = bytes.substr(0, kMaxHead);
  const Head incomplete{bytes.size() == kMaxHead ? kOther : kIncomplete};
  // TLS may have no line end, and waits for an answer.
  if (!bytes.empty() && (bytes[0] < 'A' || bytes[0] > 'Z')) return {kOther};
  const std::size_t line = bytes.find('\n');
  if (line == bytes.npos) return incomplete;
  Head head = ParseLine(bytes.substr(0, line));
  if (head.kind != kConnect) return head;
  const std::size_t end = bytes.find(kEnd);
  if (end == bytes.npos) return incomplete;
  head.size = end + kEnd.size();
  return head;
}

}  // namespace network
