#include "lima/ssh_config.h"

#include <re2/re2.h>

#include <algorithm>

#include "lima/home.h"
#include "lima/text_file.h"
#include "support/join.h"

namespace lima {
namespace {

using re2::RE2;

constexpr const char* kRestart = "; `limactl stop` and `limactl start` rewrite it";

struct Line {
  std::string keyword;                 // in lower case; empty for an empty line or a comment
  std::vector<std::string> arguments;  // without quotes
};

/// Splits `Keyword value…`, `Keyword=value` and `Keyword = value`; a '#' before an argument starts
/// a comment. Throws ConfigurationError for text that OpenSSH would unquote differently.
Line SplitLine(std::string_view text) {
  static const RE2 keyword(R"([ \t\r\f]*([^ \t\r\f=#][^ \t\r\f=]*)[ \t\r\f]*=?[ \t\r\f]*)",
                           RE2::Latin1);
  // A word, or the text between double quotes.
  static const RE2 argument(R"re((?:"([^"\\]*)"|([^ \t\r\f"'\\]+))(?:[ \t\r\f]+|$))re",
                            RE2::Latin1);
  Line line;
  re2::StringPiece rest(text);
  if (!RE2::Consume(&rest, keyword, &line.keyword)) return line;
  line.keyword = support::LowerCase(line.keyword);
  while (!rest.empty() && rest[0] != '#') {
    std::string quoted;
    std::string word;
    if (!RE2::Consume(&rest, argument, &quoted, &word)) {
      throw ConfigurationError(
          "open quotes, backslashes, and quotes within a value are not supported");
    }
    line.arguments.push_back(quoted + word);
  }
  return line;
}

bool NamesHost(const Line& line, const std::string& host) {
  for (const std::string& pattern : line.arguments) {
    if (pattern.find_first_of("*?!") != std::string::npos) {
      throw ConfigurationError("wildcards and negation in Host are not supported");
    }
  }
  return std::ranges::find(line.arguments, host) != line.arguments.end();
}

std::string OnlyArgument(const Line& line) {
  if (line.arguments.size() != 1 || line.arguments.front().empty()) {
    throw ConfigurationError(line.keyword + " takes exactly one value");
  }
  const std::string& value = line.arguments.front();
  if (line.keyword != "ciphers" && value.find('%') != std::string::npos) {
    throw ConfigurationError(line.keyword + " has a percent sign; tokens are not supported");
  }
  return value;
}

/// The first value of an option counts.
template <typename Value>
void SetOnce(Value& option, const Value& value) {
  if (option == Value()) option = value;
}

void ReadOption(const Line& line, SshEndpoint& endpoint) {
  const std::string& keyword = line.keyword;
  if (keyword == "ciphers") {
    SetOnce(endpoint.ciphers, OnlyArgument(line));
  } else if (keyword == "hostname" || keyword == "user") {
    const std::string value = OnlyArgument(line);
    // OpenSSH refuses these too (valid_hostname and valid_ruser in ssh.c).
    if (value.starts_with('-')) throw ConfigurationError(keyword + " cannot begin with '-'");
    SetOnce(keyword == "user" ? endpoint.user : endpoint.host, value);
  } else if (keyword == "identityfile") {
    const std::string path = OnlyArgument(line);
    if (!path.starts_with('/')) {
      throw ConfigurationError("identityfile takes an absolute path, not \"" + path + "\"");
    }
    std::vector<std::string>& files = endpoint.identity_files;
    if (std::ranges::find(files, path) == files.end()) files.push_back(path);
  } else if (keyword == "port") {
    const std::string text = OnlyArgument(line);
    std::uint16_t port = 0;
    if (!RE2::FullMatch(text, R"((\d+))", &port) || port == 0) {
      throw ConfigurationError("port takes a number from 1 to 65535, not \"" + text + "\"");
    }
    SetOnce(endpoint.port, port);
  } else if (keyword == "include" || keyword == "proxycommand" || keyword == "proxyjump" ||
             keyword == "proxyusefdpass") {
    const bool is_off =
        keyword != "include" && (line.arguments == std::vector<std::string>{"none"} ||
                                 line.arguments == std::vector<std::string>{"no"});
    if (!is_off) throw ConfigurationError(keyword + " is not supported");
  }
}

}  // namespace

SshEndpoint ParseSshConfig(std::string_view text, const std::string& instance_name,
                           const std::string& file) {
  const std::string host = HostnameOf(instance_name);
  SshEndpoint endpoint;
  bool has_host = false;
  bool applies = true;  // options before the first Host are for every host
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    try {
      const Line line = SplitLine(text.substr(0, end));
      if (line.keyword == "match") throw ConfigurationError("Match is not supported");
      if (line.keyword == "host") {
        applies = NamesHost(line, host);
        has_host = has_host || applies;
      } else if (applies) {
        ReadOption(line, endpoint);
      }
    } catch (const ConfigurationError& error) {
      throw ConfigurationError(file + ": line " + std::to_string(number) + ": " + error.what());
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!has_host) {
    throw ConfigurationError(file + ": there is no \"Host " + host + "\"" + kRestart);
  }
  std::vector<std::string> missing;
  if (endpoint.host.empty()) missing.emplace_back("HostName");
  if (endpoint.port == 0) missing.emplace_back("Port");
  if (endpoint.user.empty()) missing.emplace_back("User");
  if (endpoint.identity_files.empty()) missing.emplace_back("IdentityFile");
  if (missing.empty()) return endpoint;
  throw ConfigurationError(file + ": missing for " + host + ": " + support::Join(missing) +
                           kRestart);
}

SshEndpoint ReadSshConfig(const std::filesystem::path& instance_directory,
                          const std::string& instance_name) {
  const std::filesystem::path file = instance_directory / "ssh.config";
  const auto text = ReadTextFile(file, kMaxSshConfig);
  if (!text.has_value()) {
    throw ConfigurationError(file.string() +
                             " does not exist: start the instance once with `limactl start " +
                             instance_name + "`");
  }
  return ParseSshConfig(*text, instance_name, file.string());
}

}  // namespace lima
