#include "lima/ssh_config.h"

#include <algorithm>
#include <charconv>

#include "lima/configuration_error.h"
#include "lima/home.h"
#include "lima/text_file.h"
#include "support/join.h"
#include "support/lower_case.h"

namespace lima {
namespace {

constexpr std::string_view kRestart = "; `limactl stop` and `limactl start` rewrite it";

struct Line {
  std::string keyword;                 // in lower case; empty for an empty line or a comment
  std::vector<std::string> arguments;  // without quotes
};

constexpr std::string_view kSpaces = " \t\r\f";

void SkipSpaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
}

std::string TakeKeyword(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" \t\r\f="), text.size());
  std::string keyword = support::LowerCase(text.substr(0, end));
  text.remove_prefix(end);
  SkipSpaces(text);
  if (text.starts_with('=')) text.remove_prefix(1);
  return keyword;
}

/// A word, or the text between double quotes.
std::string TakeArgument(std::string_view& text) {
  const bool is_quoted = text.starts_with('"');
  if (is_quoted) text.remove_prefix(1);
  const std::size_t end =
      is_quoted ? text.find('"') : std::min(text.find_first_of(kSpaces), text.size());
  if (end == std::string_view::npos) throw ConfigurationError("a quote is not closed");
  std::string argument(text.substr(0, end));
  text.remove_prefix(end + (is_quoted ? 1 : 0));
  const bool is_one_word = text.empty() || kSpaces.find(text.front()) != std::string_view::npos;
  if (!is_one_word || argument.find_first_of(is_quoted ? "\\" : "\\\"'") != std::string::npos) {
    throw ConfigurationError("backslashes, and quotes within a value, are not supported");
  }
  return argument;
}

/// Splits `Keyword value…`, `Keyword=value` and `Keyword = value`; a '#' before an argument starts
/// a comment. Throws ConfigurationError for text that OpenSSH would unquote differently.
Line SplitLine(std::string_view line) {
  Line result;
  SkipSpaces(line);
  if (line.empty() || line.starts_with('#')) return result;
  result.keyword = TakeKeyword(line);
  for (SkipSpaces(line); !line.empty() && !line.starts_with('#'); SkipSpaces(line)) {
    result.arguments.push_back(TakeArgument(line));
  }
  return result;
}

/// Collects the options of one host.
class Reader {
 public:
  Reader(const std::string& instance_name, const std::string& file)
      : wanted_host_(HostnameOf(instance_name)), file_(file) {}

  void Read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_number_;
      ReadLine(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  [[nodiscard]] SshEndpoint Finish() const {
    if (!has_host_) {
      throw ConfigurationError(file_ + ": there is no \"Host " + wanted_host_ + "\"" +
                               std::string(kRestart));
    }
    std::vector<std::string> missing;
    if (endpoint_.host.empty()) missing.emplace_back("HostName");
    if (endpoint_.port == 0) missing.emplace_back("Port");
    if (endpoint_.user.empty()) missing.emplace_back("User");
    if (endpoint_.identity_files.empty()) missing.emplace_back("IdentityFile");
    if (!missing.empty()) {
      throw ConfigurationError(file_ + ": missing for " + wanted_host_ + ": " +
                               support::Join(missing) + std::string(kRestart));
    }
    return endpoint_;
  }

 private:
  [[noreturn]] void Fail(const std::string& text) const {
    throw ConfigurationError(file_ + ": line " + std::to_string(line_number_) + ": " + text);
  }

  void ReadLine(std::string_view text) {
    Line line;
    try {
      line = SplitLine(text);
    } catch (const ConfigurationError& error) {
      Fail(error.what());
    }
    if (line.keyword == "host") {
      ReadHost(line);
    } else if (line.keyword == "match") {
      Fail("Match is not supported");
    } else if (applies_) {
      ReadOption(line);
    }
  }

  void ReadHost(const Line& line) {
    applies_ = false;
    for (const std::string& pattern : line.arguments) {
      if (pattern.find_first_of("*?!") != std::string::npos) {
        Fail("wildcards and negation in Host are not supported");
      }
      applies_ = applies_ || pattern == wanted_host_;
    }
    has_host_ = has_host_ || applies_;
  }

  void ReadOption(const Line& line) {
    const std::string& keyword = line.keyword;
    if (keyword == "include" || keyword == "proxycommand" || keyword == "proxyjump" ||
        keyword == "proxyusefdpass") {
      const bool is_off = keyword.starts_with("proxy") && line.arguments.size() == 1 &&
                          (line.arguments.front() == "none" || line.arguments.front() == "no");
      if (!is_off) Fail(keyword + " is not supported");
    } else if (keyword == "identityfile") {
      AddIdentityFile(OnlyArgument(line));
    } else if (keyword == "port") {
      const std::uint16_t port = ParsePort(OnlyArgument(line));
      if (endpoint_.port == 0) endpoint_.port = port;
    } else if (keyword == "ciphers") {
      SetOnce(endpoint_.ciphers, OnlyArgument(line));
    } else if (keyword == "hostname" || keyword == "user") {
      const std::string value = WithoutTokens(keyword, OnlyArgument(line));
      // OpenSSH refuses these too (valid_hostname and valid_ruser in ssh.c).
      if (value.starts_with('-')) Fail(keyword + " cannot begin with '-'");
      SetOnce(keyword == "user" ? endpoint_.user : endpoint_.host, value);
    }
  }

  /// The first value of an option counts.
  static void SetOnce(std::string& option, const std::string& value) {
    if (option.empty()) option = value;
  }

  [[nodiscard]] std::string OnlyArgument(const Line& line) const {
    if (line.arguments.size() != 1 || line.arguments.front().empty()) {
      Fail(line.keyword + " takes exactly one value");
    }
    if (line.arguments.front().find('\0') != std::string::npos) {
      Fail(line.keyword + " has a NUL byte");
    }
    return line.arguments.front();
  }

  [[nodiscard]] std::string WithoutTokens(const std::string& keyword,
                                          const std::string& value) const {
    if (value.find('%') == std::string::npos) return value;
    Fail(keyword + " has a percent sign; tokens are not supported");
  }

  [[nodiscard]] std::uint16_t ParsePort(const std::string& text) const {
    unsigned int port = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    if (error == std::errc() && stop == end && port >= 1 && port <= 65535) {
      return static_cast<std::uint16_t>(port);
    }
    Fail("port takes a number from 1 to 65535, not \"" + text + "\"");
  }

  void AddIdentityFile(const std::string& value) {
    const std::string path = WithoutTokens("identityfile", value);
    if (!path.starts_with('/')) Fail("identityfile takes an absolute path, not \"" + path + "\"");
    std::vector<std::string>& files = endpoint_.identity_files;
    if (std::find(files.begin(), files.end(), path) == files.end()) files.push_back(path);
  }

  const std::string wanted_host_;
  const std::string& file_;
  int line_number_ = 0;
  bool applies_ = true;  // options before the first Host are for every host
  bool has_host_ = false;
  SshEndpoint endpoint_;
};

}  // namespace

SshEndpoint ParseSshConfig(std::string_view text, const std::string& instance_name,
                           const std::string& file) {
  Reader reader(instance_name, file);
  reader.Read(text);
  return reader.Finish();
}

SshEndpoint ReadSshConfig(const std::filesystem::path& instance_directory,
                          const std::string& instance_name) {
  const std::filesystem::path file = instance_directory / "ssh.config";
  const auto text = ReadTextFile(file, kMaximumSshConfig);
  if (!text.has_value()) {
    throw ConfigurationError(file.string() +
                             " does not exist: start the instance once with `limactl start " +
                             instance_name + "`");
  }
  return ParseSshConfig(*text, instance_name, file.string());
}

}  // namespace lima
