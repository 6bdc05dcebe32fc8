#include "lima/ssh_config.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "lima/configuration_error.h"
#include "lima/instance_name.h"
#include "lima/ssh_config_line.h"
#include "lima/text_file.h"

namespace lima {
namespace {

constexpr std::string_view kRestart = "; `limactl stop` and `limactl start` write it anew";

// Reads line after line, and keeps what is said for one host.
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
    std::string missing;
    const auto want = [&](bool is_there, const char* keyword) {
      if (!is_there) missing += (missing.empty() ? "" : ", ") + std::string(keyword);
    };
    want(host_.has_value(), "HostName");
    want(port_.has_value(), "Port");
    want(user_.has_value(), "User");
    want(!identity_files_.empty(), "IdentityFile");
    if (!missing.empty()) {
      throw ConfigurationError(file_ + ": missing for " + wanted_host_ + ": " + missing +
                               std::string(kRestart));
    }
    return {*host_, *port_, *user_, identity_files_, ciphers_.value_or("")};
  }

 private:
  [[noreturn]] void Fail(const std::string& text) const {
    throw ConfigurationError(file_ + ": line " + std::to_string(line_number_) + ": " + text);
  }

  void ReadLine(std::string_view text) {
    SshConfigLine line;
    try {
      line = SplitSshConfigLine(text);
    } catch (const ConfigurationError& error) {
      Fail(error.what());
    }
    if (line.keyword == "host") {
      ReadHost(line);
    } else if (line.keyword == "match") {
      Fail("Match is not supported here");
    } else if (applies_) {
      ReadOption(line);
    }
  }

  void ReadHost(const SshConfigLine& line) {
    applies_ = false;
    for (const std::string& pattern : line.arguments) {
      if (pattern.find_first_of("*?!") != std::string::npos) {
        Fail("wildcards and negation in Host are not supported here");
      }
      applies_ = applies_ || pattern == wanted_host_;
    }
    has_host_ = has_host_ || applies_;
  }

  void ReadOption(const SshConfigLine& line) {
    const std::string& keyword = line.keyword;
    if (keyword == "include" || keyword == "proxycommand" || keyword == "proxyjump" ||
        keyword == "proxyusefdpass") {
      const bool is_off = keyword.starts_with("proxy") && line.arguments.size() == 1 &&
                          (line.arguments.front() == "none" || line.arguments.front() == "no");
      if (!is_off) Fail(keyword + " is not supported here");
    } else if (keyword == "hostname") {
      Set(host_, Name(line));
    } else if (keyword == "port") {
      Set(port_, ParsePort(OnlyArgument(line)));
    } else if (keyword == "user") {
      Set(user_, Name(line));
    } else if (keyword == "ciphers") {
      Set(ciphers_, OnlyArgument(line));
    } else if (keyword == "identityfile") {
      AddIdentityFile(WithoutTokens(line));
    }
  }

  // The first value counts.
  template <typename Value>
  static void Set(std::optional<Value>& option, Value value) {
    if (!option.has_value()) option = std::move(value);
  }

  [[nodiscard]] std::string OnlyArgument(const SshConfigLine& line) const {
    if (line.arguments.size() != 1 || line.arguments.front().empty()) {
      Fail(line.keyword + " wants exactly one value");
    }
    if (line.arguments.front().find('\0') != std::string::npos) {
      Fail(line.keyword + " has a NUL byte");
    }
    return line.arguments.front();
  }

  [[nodiscard]] std::string WithoutTokens(const SshConfigLine& line) const {
    std::string value = OnlyArgument(line);
    if (value.find('%') != std::string::npos) {
      Fail(line.keyword + " has a percent sign, which starts a token that is not supported here");
    }
    return value;
  }

  // As OpenSSH (valid_hostname and valid_ruser in ssh.c), to which it would be an option.
  [[nodiscard]] std::string Name(const SshConfigLine& line) const {
    std::string name = WithoutTokens(line);
    if (name.starts_with('-')) Fail(line.keyword + " cannot begin with '-'");
    return name;
  }

  [[nodiscard]] std::uint16_t ParsePort(const std::string& text) const {
    unsigned int port = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    if (error != std::errc() || stop != end || port < 1 || port > 65535) {
      Fail("port wants a number from 1 to 65535, not \"" + text + "\"");
    }
    return static_cast<std::uint16_t>(port);
  }

  void AddIdentityFile(const std::string& path) {
    if (!path.starts_with('/')) {
      Fail("identityfile wants an absolute path, not \"" + path + "\"");
    }
    if (std::find(identity_files_.begin(), identity_files_.end(), path) == identity_files_.end()) {
      identity_files_.push_back(path);
    }
    if (identity_files_.size() > kMaximumIdentityFiles) {
      Fail("more than " + std::to_string(kMaximumIdentityFiles) + " identityfile lines");
    }
  }

  const std::string wanted_host_;
  const std::string& file_;
  int line_number_ = 0;
  bool applies_ = true;  // what stands before the first Host is for every host
  bool has_host_ = false;
  std::optional<std::string> host_;
  std::optional<std::uint16_t> port_;
  std::optional<std::string> user_;
  std::vector<std::string> identity_files_;
  std::optional<std::string> ciphers_;
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
                             " does not exist: the instance has never been started; run `limactl "
                             "start " +
                             instance_name + "`");
  }
  return ParseSshConfig(*text, instance_name, file.string());
}

}  // namespace lima
