// SPDX-License-Identifier: Apache-2.0
// Which servers ssh::Connect takes for the guest, by the instance's ssh.config and known_hosts.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <map>
#include <sstream>

#include "integration/ssh_guest_fixture.h"
#include "lima/ssh_config.h"
#include "support/errors.h"
#include "support/format.h"
#include "testing/error_of.h"
#include "testing/tcp_proxy.h"

namespace ssh_guest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kMaxKnownHosts = 1024 * 1024;

/// As Lima 2.3 may write it. FILE and OTHER are paths in the test's directory.
constexpr const char* kYes =
    "StrictHostKeyChecking yes\nUserKnownHostsFile \"FILE\"\nHostKeyAlias lima-default\n";
constexpr const char* kAcceptNew =
    "StrictHostKeyChecking accept-new\nUserKnownHostsFile \"FILE\"\nHostKeyAlias lima-default\n";
constexpr const char* kNo =
    "StrictHostKeyChecking no\nUserKnownHostsFile \"FILE\"\nHostKeyAlias lima-default\n";
/// Nothing is checked; as Lima 2.2 writes it.
constexpr const char* kLima22 =
    "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nNoHostAuthenticationForLocalhost "
    "yes\n";

class HostKeyTest : public SshGuest {
 protected:
  /// An sshd with the ed25519 key K, and more lines of sshd_config.
  void StartGuest(std::vector<std::string> sshd_options = {}) {
    sshd_options.emplace_back("LogLevel DEBUG1");
    StartInstance(std::move(sshd_options));
    keys_["K"] = PublicKey(instance_->directory() / "ssh_host_key");
    keys_["L"] = KeyOf("L");
  }

  [[nodiscard]] std::string File() const { return Path("known hosts"); }

  /// Replaces FILE, OTHER, PORT and the names of keys by what they stand for.
  std::string Filled(std::string text) {
    text = support::Replaced(text, "FILE", File());
    text = support::Replaced(text, "OTHER", Path("other"));
    text = support::Replaced(text, "PORT", std::to_string(instance_->port()));
    for (const char* name : {"K", "L", "ecdsa", "rsa", "other-ecdsa", "other-rsa"}) {
      const std::string mark = "<" + std::string(name) + ">";
      if (text.find(mark) != std::string::npos) text = support::Replaced(text, mark, KeyOf(name));
    }
    return text;
  }

  /// Connects with these options and these lines in the file, as all commands do.
  void ConnectWith(const std::string& options, std::uint16_t port = 0) {
    testing_support::WriteFile(
        instance_->directory() / "ssh.config",
        support::Format(
            "Host lima-default\nIdentityFile {}\nUser {}\nHostName 127.0.0.1\nPort {}\n{}",
            instance_->identity_file(), instance_->user(), port != 0 ? port : instance_->port(),
            Filled(options)));
    ssh::Connect(lima::ReadSshConfig(instance_->directory(), "default"), {}, minute_);
  }

  /// The error, or "" if it connects. A refused server must not have seen a request to log in.
  std::string Attempt(const std::string& options) {
    const std::filesystem::path log = instance_->directory() / "sshd.log";
    const std::size_t before = ReadFile(log).size();
    try {
      ConnectWith(options);
      return "";
    } catch (const support::Error& error) {
      EXPECT_THAT(ReadFile(log).substr(before), ::testing::Not(HasSubstr("userauth-request")));
      return error.what();
    }
  }

  void Record(const std::string& lines) { WriteFile("known hosts", Filled(lines)); }

  static std::string PublicKey(const std::string& file) {
    std::istringstream words(ReadFile(file + ".pub"));
    std::string type;
    std::string key;
    words >> type >> key;
    return type + " " + key;
  }

  /// Makes the key at its first use.
  std::string KeyOf(const std::string& name) {
    std::string& key = keys_[name];
    if (!key.empty()) return key;
    const std::string type = name == "L" ? "ed25519" : name.substr(name.rfind('-') + 1);
    const auto made = testing_support::RunProcess(
        {.arguments = {"ssh-keygen", "-q", "-t", type, "-b", type == "rsa" ? "2048" : "256", "-N",
                       "", "-f", Path(name)}});
    EXPECT_EQ(made.exit_code, 0) << made.error;
    return key = PublicKey(Path(name));
  }

  /// "SHA256:…" by ssh-keygen.
  [[nodiscard]] std::string Fingerprint(const std::string& name) {
    WriteFile("shown", KeyOf(name) + "\n");
    const auto shown =
        testing_support::RunProcess({.arguments = {"ssh-keygen", "-lf", Path("shown")}});
    const std::size_t begin = shown.output.find("SHA256:");
    return shown.output.substr(begin, shown.output.find(' ', begin) - begin);
  }

 private:
  std::map<std::string, std::string> keys_;  ///< by name: type and key
};

struct Case {
  std::string options;
  std::string lines;                      ///< of FILE
  std::vector<std::string> refusal = {};  ///< empty if it connects
};

const std::vector<std::string> kMismatch = {"is not the guest that Lima started", "FILE",
                                            "lima-default", "Nothing was sent",
                                            "`limactl stop default && limactl start default`"};

TEST_F(HostKeyTest, IsCheckedByTheRecordedKeys) {
  StartGuest();
  WriteFile("other", Filled("lima-default <L>\n"));
  const std::string none = "no host key of the guest is recorded";
  const std::string cannot = "the guest's host key cannot be checked";
  const std::string negated = "!lima-default,lima-*";
  for (const auto& [options, lines, refusal] : std::vector<Case>{
           {kLima22, "lima-default <L>\n"},
           {kYes, "lima-default <K>\n"},
           {kAcceptNew, "lima-default <K>\n"},
           {kYes, "lima-default <L>\n", kMismatch},
           {kAcceptNew, "lima-default <L>\n", kMismatch},
           {kNo, "lima-default <L>\n", kMismatch},
           {"UserKnownHostsFile \"FILE\"\nHostKeyAlias lima-default\n", "lima-default <L>\n",
            kMismatch},
           // No key of that name.
           {kYes, "lima-other <K>\n", {none, "FILE", "lima-default", "limactl stop default"}},
           {kYes, "", {none, "FILE"}},
           {kYes, "[127.0.0.1]:PORT <K>\n", {none, "FILE"}},
           {kAcceptNew, "lima-other <K>\n"},
           {kNo, "lima-other <L>\n"},
           {kNo, ""},
           {"StrictHostKeyChecking yes\nUserKnownHostsFile /dev/null\n", "", {none}},
           {"StrictHostKeyChecking yes\nUserKnownHostsFile none\n", "", {none}},
           {"StrictHostKeyChecking yes\n", "", {none, "UserKnownHostsFile"}},
           // The name: an alias in any case, else the address and the port.
           {"HostKeyAlias some-alias\nUserKnownHostsFile \"FILE\"\n",
            "lima-default <K>\nsome-alias <L>\n",
            {"SHA256:"}},
           {"HostKeyAlias Some-Alias\nUserKnownHostsFile \"FILE\"\n",
            "SOME-alias <L>\n",
            {"SHA256:"}},
           {"StrictHostKeyChecking yes\nUserKnownHostsFile \"FILE\"\n", "[127.0.0.1]:PORT <K>\n"},
           {"StrictHostKeyChecking no\nUserKnownHostsFile \"FILE\"\n",
            "[127.0.0.1]:PORT <L>\n",
            {"[127.0.0.1]:PORT"}},
           {"StrictHostKeyChecking yes\nUserKnownHostsFile \"FILE\"\n", "127.0.0.1 <K>\n", {none}},
           // Several files and keys: one match is enough.
           {"UserKnownHostsFile \"/no/such/file\" \"OTHER\"\nHostKeyAlias lima-default\n",
            "",
            {"SHA256:", "OTHER"}},
           {"GlobalKnownHostsFile OTHER\nHostKeyAlias lima-default\n", "", {"SHA256:", "OTHER"}},
           {"StrictHostKeyChecking yes\nUserKnownHostsFile \"OTHER\" \"FILE\"\nHostKeyAlias "
            "lima-default\n",
            "lima-default <K>\n"},
           {kYes, "lima-default <L>\nlima-default <K>\n"},
           {kYes, "lima-default <other-rsa>\nlima-default <K>\n"},
           {kYes, "lima-default,b <K> comment\n"},
           {kYes, "a,lima-* <K>\n"},
           // Lines that are no entry.
           {kYes,
            "# c\n\n  \nlima-default ssh-ed25519\nlima-default\n\1\2\xff\nlima-default x "
            "y\nlima-default <K>"},
           {kNo,
            "# c\n\n  \nlima-default ssh-ed25519\nlima-default\n\1\2\xff\nlima-default x "
            "y\nlima-default <L>",
            {"SHA256:"}},
           {kYes, "lima-default ssh-ed25519\n", {none}},
           {kYes, "#,lima-default <K>\n", {none}},
           // Tabs, blanks and Windows' ends of lines.
           {kYes, "\tlima-default\t <K>\tx\r\n"},
           {kNo, "\tlima-default\t <L>\t\r\n", {"SHA256:"}},
           // What libssh does not understand.
           {kYes, negated + " <K>\n", {cannot, negated, "FILE"}},
           {kNo, "*,!lima-default <K>\n", {cannot, "*,!lima-default"}},
           {kYes, "!lima-default <K>\n", {none}},
           {kYes, "!lima-default <L>\nlima-default <K>\n"},
           {kYes, "@revoked lima-default <K>\n", {cannot, "@revoked", "FILE"}},
           {kAcceptNew, " @revoked lima-default <K>\n", {cannot, "@revoked"}},
           {kYes,
            "@cert-authority lima-default <K>\nlima-default <K>\n",
            {cannot, "@cert-authority"}},
           // The key is of another type than what is recorded.
           {kYes,
            "lima-default <other-rsa>\n",
            {"not the guest", "of another type", "SHA256:", "FILE", "limactl stop"}}}) {
    Record(lines);
    const std::string error = Attempt(options);
    EXPECT_EQ(error.empty(), refusal.empty()) << options << lines << error;
    for (const std::string& text : refusal) {
      EXPECT_THAT(error, HasSubstr(Filled(text))) << options << lines;
    }
    EXPECT_EQ(ReadFile(File()), Filled(lines)) << "Lima's files are not written";
  }
}

TEST_F(HostKeyTest, TheRefusalHasBothFingerprints) {
  StartGuest();
  Record("lima-default <other-ecdsa>\nlima-default <L>\n");
  EXPECT_THAT(Attempt(kYes), AllOf(HasSubstr("key is " + Fingerprint("K") + ", but"),
                                   HasSubstr("has " + Fingerprint("L") + " for lima-default")));
}

TEST_F(HostKeyTest, HashedNamesAreFound) {
  StartGuest();
  for (const char* key : {"<K>", "<L>"}) {
    Record("lima-default " + std::string(key) + "\n");
    testing_support::RunProcess({.arguments = {"ssh-keygen", "-Hf", File()}});
    ASSERT_TRUE(ReadFile(File()).starts_with('|'));
    EXPECT_EQ(Attempt(kYes).empty(), key == std::string("<K>"));
  }
}

TEST_F(HostKeyTest, FilesThatCannotBeReadAreRefused) {
  StartGuest();
  const std::string line = Filled("\nlima-default <K>\n");
  Record(std::string(kMaxKnownHosts - line.size(), '#') + line);
  EXPECT_EQ(Attempt(kYes), "");
  Record(std::string(kMaxKnownHosts - line.size() + 1, '#') + line);
  EXPECT_THAT(Attempt(kNo), AllOf(HasSubstr(File()), HasSubstr("host key"), HasSubstr("1MiB")));
  std::filesystem::remove(File());
  EXPECT_EQ(Attempt(kNo), "");
  ASSERT_EQ(::mkfifo(File().c_str(), 0600), 0);
  EXPECT_THAT(Attempt(kNo), AllOf(HasSubstr(File()), HasSubstr("regular file")));
  std::filesystem::remove(File());
  std::filesystem::create_directory(File());
  EXPECT_THAT(Attempt(kNo), AllOf(HasSubstr(File()), HasSubstr("regular file")));
  std::filesystem::remove(File());
  std::filesystem::create_symlink("known hosts", File());
  EXPECT_THAT(Attempt(kNo), AllOf(HasSubstr(File()), HasSubstr("symbolic links")));
  std::filesystem::remove(File());
  Record("lima-default <K>\n");
  std::filesystem::permissions(File(), std::filesystem::perms::none);
  if (::getuid() != 0) {
    EXPECT_THAT(Attempt(kNo), AllOf(HasSubstr(File()), HasSubstr("Permission denied")));
  }
}

TEST_F(HostKeyTest, TheRecordedTypeIsRequested) {
  for (const char* type : {"ecdsa", "rsa"}) KeyOf(type);
  StartGuest({"HostKey " + Path("ecdsa"), "HostKey " + Path("rsa")});
  for (const char* type : {"ecdsa", "rsa"}) {
    Record("lima-default <" + std::string(type) + ">\n");
    EXPECT_EQ(Attempt(kYes), "") << type;
    Record("lima-default <other-" + std::string(type) + ">\n");
    EXPECT_THAT(Attempt(kNo), HasSubstr(Fingerprint(type))) << type;
  }
  StartGuest({"HostKey " + Path("ecdsa"), "HostKeyAlgorithms ecdsa-sha2-nistp256"});
  Record("lima-default <K>\nlima-default <rsa>\nlima-default <ecdsa>\n");
  EXPECT_EQ(Attempt(kYes), "");
}

// Lima has written the files while the connection was being made: connecting again helps.
TEST_F(HostKeyTest, RecordedKeysThatChangeMeanwhileAreALostConnection) {
  StartGuest();
  Record("lima-default <L>\n");
  testing_support::TcpProxy proxy(instance_->port());
  proxy.HoldAfter(testing_support::TcpProxy::Direction::kFromTarget, 0);
  auto lost = std::async(std::launch::async, [&] {
    return testing_support::ErrorOf<support::ConnectionLost>(
        [&] { ConnectWith(kYes, proxy.port()); });
  });
  ASSERT_TRUE(Eventually([&] { return proxy.Holds(); }));
  Record("lima-default <K>\n");
  proxy.Release();
  EXPECT_THAT(lost.get(), HasSubstr("have just changed"));
}

}  // namespace
}  // namespace ssh_guest
