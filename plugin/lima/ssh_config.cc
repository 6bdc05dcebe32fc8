// SPDX-License-Identifier: Apache-2.0
#include "lima/ssh_config.h"

#include <sstream>

#include "lima/home.h"
#include "lima/sandbox.h"
#include "lima/text_file.h"
#include "support/format.h"
#include "support/join.h"
#include "support/regex.h"
#include "support/words.h"

namespace lima {
namespace {

std::string Rewrite(const std::string& instance) {
  return support::Format("; `{}` rewrites it", RestartCommand(instance));
}

/// The first value of an option counts.
void SetOnce(std::string& option, const std::string& value) {
  if (option.empty()) option = value;
}

void ReadOption(const std::string& keyword, const std::string& value, const std::string& file,
                SshEndpoint& endpoint) {
  if (keyword == "hostname") {
    SetOnce(endpoint.host, value);
  } else if (keyword == "user") {
    SetOnce(endpoint.user, value);
  } else if (keyword == "ciphers") {
    SetOnce(endpoint.ciphers, value);
  } else if (keyword == "port") {
    if (endpoint.port == 0) (void)support::Regex(R"((\d+))").FullMatch(value, &endpoint.port);
  } else if (keyword == "identityfile") {
    if (value.starts_with('/')) endpoint.identity_files.push_back(value);
  } else if (support::Regex("include|match|proxy.*").FullMatch(keyword)) {
    throw ConfigurationError("{}: {} is not supported{}", file, keyword,
                             Rewrite(endpoint.instance));
  }
}

}  // namespace

SshEndpoint ParseSshConfig(std::string_view text, const std::string& instance_name,
                           const std::string& file) {
  static const support::Regex option(R"re(\s*(\w+)[\s=]+"?([^"\s-][^"]*?)"?\s*)re",
                                     support::Regex::kLatin1);
  const std::string host = HostnameOf(instance_name);
  SshEndpoint endpoint;
  endpoint.instance = instance_name;
  bool has_host = false;
  bool applies = false;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::string keyword;
    std::string value;
    if (!option.FullMatch(line, &keyword, &value)) continue;
    keyword = support::LowerCase(keyword);
    if (keyword == "host") {
      applies = value == host;
      has_host = has_host || applies;
    } else if (applies) {
      ReadOption(keyword, value, file, endpoint);
    }
  }
  if (!has_host)
    throw ConfigurationError("{}: there is no \"Host {}\"{}", file, host, Rewrite(instance_name));
  std::vector<std::string> missing;
  if (endpoint.host.empty()) missing.emplace_back("HostName");
  if (endpoint.port == 0) missing.emplace_back("Port");
  if (endpoint.user.empty()) missing.emplace_back("User");
  if (endpoint.identity_files.empty()) missing.emplace_back("IdentityFile");
  if (missing.empty()) return endpoint;
  throw ConfigurationError("{}: missing or invalid for {}: {}{}", file, host,
                           support::Join(missing), Rewrite(instance_name));
}

SshEndpoint ReadSshConfig(const std::filesystem::path& instance_directory,
                          const std::string& instance_name) {
  const std::filesystem::path file = instance_directory / "ssh.config";
  const auto text = ReadTextFile(file, kMaxSshConfig);
  if (!text.has_value()) {
    throw ConfigurationError("{} does not exist: start the instance once with `limactl start {}`",
                             file.string(), instance_name);
  }
  return ParseSshConfig(*text, instance_name, file.string());
}

}  // namespace lima
