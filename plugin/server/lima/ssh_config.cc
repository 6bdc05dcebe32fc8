// SPDX-License-Identifier: Apache-2.0
#include "lima/ssh_config.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "lima/home.h"
#include "lima/sandbox.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/format.h"
#include "support/join.h"
#include "support/printable.h"
#include "support/regex.h"
#include "support/words.h"

namespace lima {
namespace {

using support::Regex;
using Words = std::vector<std::string>;

constexpr std::uint16_t kSshPort = 22;
constexpr std::size_t kMaxShown = 100;  // bytes of a line in an error

std::string Rewrite(const std::string& instance) {
  return support::Format("; `{}` rewrites it", RestartCommand(instance));
}

struct Option {
  std::string keyword;         ///< in lower case; empty for a comment
  std::optional<Words> words;  ///< nullopt if they cannot be read
};

/// Words, and words in double quotes, up to a comment. Refuses an open quote, and what else
/// ssh_config(5) has: backslashes, single quotes, quotes within a word.
std::optional<Words> SplitWords(std::string_view text) {
  static const Regex word(R"re([ \t]*(?:"([^"\\]*)"|([^ \t"'\\#][^ \t"'\\]*))(?:[ \t]|$))re",
                          Regex::kLatin1);
  static const Regex end(R"([ \t]*(#.*)?)", Regex::kLatin1);
  Words words;
  std::string quoted;
  std::string plain;
  while (word.Consume(text, &quoted, &plain)) words.push_back(quoted + plain);
  return end.FullMatch(text) ? std::optional(words) : std::nullopt;
}

Option ReadLine(std::string_view line) {
  static const Regex option(R"([ \t=]*([^ \t\r\f=#][^ \t\r\f=]*)[ \t]*=?(.*?)[ \t\r\f]*)",
                            Regex::kLatin1);
  std::string keyword;
  std::string value;
  if (!option.FullMatch(line, &keyword, &value)) return {};
  return {support::LowerCase(keyword), SplitWords(value)};
}

/// Whether ssh applies the block `Host PATTERNS` to the instance.
bool Matches(const Words& patterns, const std::string& host) {
  bool matches = false;
  for (const std::string& pattern : patterns) {
    const bool is_negated = pattern.starts_with('!');
    if (::fnmatch(pattern.c_str() + (is_negated ? 1 : 0), host.c_str(), FNM_NOESCAPE) != 0)
      continue;
    if (is_negated) return false;
    matches = true;
  }
  return matches;
}

/// The first value of an option counts.
void SetOnce(std::string& option, const std::string& value) {
  if (option.empty()) option = value;
}

/// Ignores an invalid value, so that the option is missing.
void ReadAddress(const std::string& keyword, const Words& words, SshEndpoint& endpoint) {
  if (words.size() != 1 || words.front().starts_with('-')) return;
  const std::string& value = words.front();
  if (keyword == "hostname") {
    SetOnce(endpoint.host, value);
  } else if (keyword == "user") {
    SetOnce(endpoint.user, value);
  } else if (keyword == "ciphers") {
    SetOnce(endpoint.ciphers, value);
  } else if (keyword == "port" && endpoint.port == 0) {
    (void)Regex(R"((\d+))").FullMatch(value, &endpoint.port);
  } else if (keyword == "identityfile" && value.starts_with('/')) {
    endpoint.identity_files.push_back(value);
  }
}

/// Returns false for a value that cannot be obeyed.
bool ReadHostKeyRule(const std::string& keyword, const Words& words, HostKeyRules& rules) {
  static const std::map<std::string, bool> strictness = {
      {"yes", true}, {"true", true},   {"ask", false}, {"accept-new", false},
      {"no", false}, {"false", false}, {"off", false}};
  const std::string value = words.size() == 1 ? support::LowerCase(words.front()) : "";
  if (keyword == "stricthostkeychecking") {
    const auto found = strictness.find(value);
    rules.is_strict = found != strictness.end() && found->second;
    return found != strictness.end();
  }
  if (keyword == "hostkeyalias") {
    rules.name = value;
    return Regex("[^%]+", Regex::kLatin1).FullMatch(value);
  }
  if (!keyword.ends_with("knownhostsfile")) return value == "none";
  for (const std::string& file : words) {
    if (support::LowerCase(file) == "none" || file == "/dev/null") continue;
    if (!Regex("/[^%$]*", Regex::kLatin1).FullMatch(file)) return false;
    rules.files.push_back(file);
  }
  return !words.empty();
}

/// Throws unless HostName, Port, User and IdentityFile were valid.
void RequireAddress(const SshEndpoint& endpoint, const std::string& host, const std::string& file) {
  Words missing;
  if (endpoint.host.empty()) missing.emplace_back("HostName");
  if (endpoint.port == 0) missing.emplace_back("Port");
  if (endpoint.user.empty()) missing.emplace_back("User");
  if (endpoint.identity_files.empty()) missing.emplace_back("IdentityFile");
  if (missing.empty()) return;
  throw support::Error("{}: missing or invalid for {}: {}{}", file, host, support::Join(missing),
                       Rewrite(endpoint.instance));
}

struct Reading {
  std::string host;
  SshEndpoint endpoint = {};
  bool has_host = false;
  bool is_ours = false;  ///< within `Host lima-NAME`
  bool applies = true;   ///< ssh applies the block
  std::set<std::string> host_key_rules = {};
};

/// Returns false if the option is not supported.
bool ReadOption(const Option& option, Reading& reading) {
  static const Regex on_host_keys(
      "stricthostkeychecking|(user|global)knownhostsfile|hostkeyalias|knownhostscommand|"
      "revokedhostkeys");
  const auto& [keyword, words] = option;
  if (keyword == "host") {
    reading.is_ours = words == Words{reading.host};
    reading.has_host = reading.has_host || reading.is_ours;
    reading.applies = words && Matches(*words, reading.host);
    return words.has_value();
  }
  if (reading.applies && on_host_keys.FullMatch(keyword)) {
    const bool is_first = reading.host_key_rules.insert(keyword).second;
    return !is_first || (words && ReadHostKeyRule(keyword, *words, reading.endpoint.host_key));
  }
  if (reading.is_ours && words) ReadAddress(keyword, *words, reading.endpoint);
  return !(reading.applies && Regex("include|proxy.*").FullMatch(keyword)) && keyword != "match" &&
         keyword.find('"') == std::string::npos;
}

}  // namespace

SshEndpoint ParseSshConfig(std::string_view text, const std::string& instance_name,
                           const std::string& file) {
  Reading reading{.host = HostnameOf(instance_name)};
  SshEndpoint& endpoint = reading.endpoint;
  endpoint.instance = instance_name;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (ReadOption(ReadLine(line), reading)) continue;
    throw support::Error("{}: \"{}\" is not supported{}", file,
                         support::Printable(line.substr(line.find_first_not_of(" \t="), kMaxShown)),
                         Rewrite(instance_name));
  }
  if (!reading.has_host) {
    throw support::Error("{}: there is no \"Host {}\"{}", file, reading.host,
                         Rewrite(instance_name));
  }
  RequireAddress(endpoint, reading.host, file);
  const std::string address = support::LowerCase(endpoint.host);
  SetOnce(endpoint.host_key.name,
          endpoint.port == kSshPort ? address : support::Format("[{}]:{}", address, endpoint.port));
  return endpoint;
}

SshEndpoint ReadSshConfig(const std::filesystem::path& instance_directory,
                          const std::string& instance_name) {
  const std::filesystem::path file = instance_directory / "ssh.config";
  const auto text = support::ReadFile(file, kMaxSshConfig);
  if (!text.has_value()) {
    throw support::Error("{} does not exist: start the instance once with `limactl start {}`",
                         file.string(), instance_name);
  }
  return ParseSshConfig(*text, instance_name, file.string());
}

}  // namespace lima
