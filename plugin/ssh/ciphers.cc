#include "ssh/ciphers.h"

#include <algorithm>
#include <array>
#include <vector>

#include "support/errors.h"

namespace ssh {
namespace {

// What libssh 0.10 to 0.12 offer by themselves, fastest first on machines with AES instructions.
constexpr std::array<std::string_view, 6> kDefaultCiphers = {"aes128-gcm@openssh.com",
                                                             "aes256-gcm@openssh.com",
                                                             "chacha20-poly1305@openssh.com",
                                                             "aes256-ctr",
                                                             "aes192-ctr",
                                                             "aes128-ctr"};

std::vector<std::string_view> Split(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) names.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

bool Matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

void AppendMissing(std::vector<std::string_view>& list,
                   const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }
}

}  // namespace

std::string CipherList(std::string_view config_value) {
  if (config_value.empty()) return {};

  const char sign = config_value.front();
  const bool has_sign = sign == '^' || sign == '+' || sign == '-';
  const std::vector<std::string_view> named = Split(config_value.substr(has_sign ? 1 : 0));
  const std::vector<std::string_view> defaults(kDefaultCiphers.begin(), kDefaultCiphers.end());

  std::vector<std::string_view> list;
  if (sign == '+') AppendMissing(list, defaults);
  if (sign == '-') {
    std::copy_if(
        defaults.begin(), defaults.end(), std::back_inserter(list), [&](std::string_view name) {
          return std::none_of(named.begin(), named.end(),
                              [&](std::string_view pattern) { return Matches(name, pattern); });
        });
  } else {
    AppendMissing(list, named);
  }
  if (sign == '^') AppendMissing(list, defaults);

  if (list.empty()) {
    throw support::CallError("the instance's ssh.config leaves no cipher to use (Ciphers " +
                             std::string(config_value) + "): name one that the guest's sshd has");
  }
  std::string joined;
  for (const std::string_view name : list) {
    if (!joined.empty()) joined += ',';
    joined += name;
  }
  return joined;
}

}  // namespace ssh
