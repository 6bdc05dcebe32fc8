// SPDX-License-Identifier: Apache-2.0
#include "lima/ssh_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/errors.h"
#include "testing/error_of.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::TemporaryDirectory;
using testing_support::WriteFile;

// As Lima 2.2 writes it: no host key is recorded.
constexpr const char* kLimaFile = R"(# This SSH config file can be passed to 'ssh -F'.
# This file is created by Lima, but not used by Lima itself currently.
# Modifications to this file will be lost on restarting the Lima instance.
Host lima-my-vm
  IdentityFile "/home/me/.lima/_config/user"
  IdentityFile "/home/me/.ssh/id with space"
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  NoHostAuthenticationForLocalhost yes
  PreferredAuthentications publickey
  Compression no
  BatchMode yes
  IdentitiesOnly yes
  GSSAPIAuthentication no
  Ciphers "^aes128-gcm@openssh.com,aes256-gcm@openssh.com"
  User me
  ControlMaster auto
  ControlPath "/home/me/.lima/my_vm/ssh.sock"
  ControlPersist yes
  Hostname 127.0.0.1
  Port 60022
)";

constexpr const char* kHost = "Host lima-my-vm\n";
constexpr const char* kMinimal = "IdentityFile /k\nUser me\nHostName h\nPort 1\n";

SshEndpoint ParseForMyVm(const std::string& text) {
  return ParseSshConfig(text, "my_vm", "ssh.config");
}

std::string SshConfigErrorOf(const std::string& text) {
  return testing_support::ErrorOf<support::Error>([&text] { return ParseForMyVm(text); });
}

TEST(SshConfig, ReadsWhatLimaWritesAndSaysWhatToDoIfThereIsNone) {
  const TemporaryDirectory directory;
  EXPECT_THAT([&directory] { ReadSshConfig(directory.path(), "my_vm"); },
              testing::ThrowsMessage<support::Error>(
                  AllOf(HasSubstr((directory.path() / "ssh.config").string()),
                        HasSubstr("limactl start my_vm"))));
  WriteFile(directory.path() / "ssh.config", kLimaFile);
  EXPECT_EQ(ReadSshConfig(directory.path(), "my_vm"),
            (SshEndpoint{"127.0.0.1",
                         60022,
                         "me",
                         {"/home/me/.lima/_config/user", "/home/me/.ssh/id with space"},
                         "^aes128-gcm@openssh.com,aes256-gcm@openssh.com",
                         "my_vm",
                         {"[127.0.0.1]:60022", {}, false}}));
}

TEST(SshConfig, IsReadAsSshReadsIt) {
  const std::string minimal = kMinimal;
  for (const auto& [text, endpoint] : std::vector<std::pair<std::string, SshEndpoint>>{
           {"HOST=lima-my-vm\r\n\tIDENTITYFILE = \"/k\"\r\nuser=me\r\nhostname  h\r\n"
            "  # PORT 1\r\nPort\t=\t2\r\n",
            {"h", 2, "me", {"/k"}, "", "my_vm", {"[h]:2", {}, false}}},
           // Quotes protect spaces and apostrophes.
           {kHost + ("IdentityFile \"/a b/o'c#\"\n" + minimal),
            {"h", 1, "me", {"/a b/o'c#", "/k"}, "", "my_vm", {"[h]:1", {}, false}}},
           // The first value counts, and identity files add up.
           {kHost + minimal + "Port 2\nUser other\nHostName other\nIdentityFile /k2\n",
            {"h", 1, "me", {"/k", "/k2"}, "", "my_vm", {"[h]:1", {}, false}}},
           // Options of other hosts do not count.
           {"Port 8\nHost lima-other\nPort 9\nProxyCommand x\nHost lima-my-vm\n" + minimal +
                "Host lima-my-vm-2\nIdentityFile /k2\nHost lima-my-vm lima-a\nIdentityFile /k3\n"
                "Host *\nIdentityFile /k4\n",
            {"h", 1, "me", {"/k"}, "", "my_vm", {"[h]:1", {}, false}}}}) {
    EXPECT_EQ(ParseForMyVm(text), endpoint) << text;
  }
}

TEST(SshConfig, RefusesAFileForAnotherHost) {
  EXPECT_THAT(SshConfigErrorOf("Host lima-other\n" + std::string(kMinimal)),
              AllOf(HasSubstr("ssh.config: "), HasSubstr("\"Host lima-my-vm\"")));
  EXPECT_THAT(SshConfigErrorOf("Host lima-my_vm\n" + std::string(kMinimal)),
              HasSubstr("there is no"));
  EXPECT_THAT(SshConfigErrorOf(kMinimal), HasSubstr("there is no"));
  EXPECT_THAT(SshConfigErrorOf(""), HasSubstr("there is no"));
}

TEST(SshConfig, HasNoDefaultsAndNamesAllThatIsMissing) {
  EXPECT_THAT(SshConfigErrorOf(kHost),
              HasSubstr("missing or invalid for lima-my-vm: HostName, Port, User, IdentityFile"));
  EXPECT_THAT(SshConfigErrorOf(std::string(kHost) + "IdentityFile /k\nUser me\nHostName h\n"),
              AllOf(HasSubstr("for lima-my-vm: Port"), Not(HasSubstr("User"))));
}

TEST(SshConfig, InvalidValuesAreMissing) {
  const std::map<std::string, std::vector<std::string>> invalid = {
      {"Port", {"0", "65536", "-1", "x", "1 2", "", "\"\"", "22x", "0x16"}},
      {"User", {"", "-lroot", "\"a\"b\""}},
      {"HostName", {"", "-oProxyCommand=x"}},
      {"IdentityFile", {"relative", "~/.ssh/id", "%d/id", "none", "\"/a\"b\"", "'/a'"}}};
  const std::map<std::string, std::string> valid = {
      {"IdentityFile", "/k"}, {"User", "me"}, {"HostName", "h"}, {"Port", "65535"}};
  for (const auto& [keyword, values] : invalid) {
    for (const std::string& value : values) {
      auto options = valid;
      options[keyword] = value;
      std::string text = kHost;
      for (const auto& [name, given] : options) text.append(name + " " + given + "\n");
      EXPECT_THAT(SshConfigErrorOf(text), HasSubstr("invalid for lima-my-vm: " + keyword + ";"))
          << text;
    }
  }
}

TEST(SshConfig, ReadsTheRulesOnHostKeysAsSshDoes) {
  using Files = std::vector<std::string>;
  struct Case {
    std::string options;
    HostKeyRules rules;
    std::string before = {};  ///< the Host
  };
  const std::string name = "[h]:1";
  for (const auto& [options, rules, before] : std::vector<Case>{
           {"", {name, {}, false}},
           {"StrictHostKeyChecking yes\nUserKnownHostsFile \"/a b/k\"\nHostKeyAlias Lima-My-VM\n",
            {"lima-my-vm", {"/a b/k"}, true}},
           // Any case, blanks, tabs, one "=", comments and Windows' ends of lines.
           {"stricthostkeychecking=yes\r\n\tUSERKNOWNHOSTSFILE = \"/a\" # x\r\n"
            "HostKeyAlias\t=\ta#b #c\r\n",
            {"a#b", {"/a"}, true}},
           {"StrictHostKeyChecking YES # no\nUserKnownHostsFile=/a#b /c \t\n",
            {name, {"/a#b", "/c"}, true}},
           {"StrictHostKeyChecking \"true\"\n", {name, {}, true}},
           {"StrictHostKeyChecking No\n", {name, {}, false}},
           {"StrictHostKeyChecking off\n", {name, {}, false}},
           {"StrictHostKeyChecking false\n", {name, {}, false}},
           {"StrictHostKeyChecking ask\n", {name, {}, false}},
           {"StrictHostKeyChecking accept-new\n", {name, {}, false}},
           // Several files, and those that are none.
           {"UserKnownHostsFile \"/a\" \"/b c\" /d\nGlobalKnownHostsFile /e\n",
            {name, Files{"/a", "/b c", "/d", "/e"}, false}},
           {"UserKnownHostsFile none\nGlobalKnownHostsFile NONE /dev/null\n", {name, {}, false}},
           {"KnownHostsCommand none\nRevokedHostKeys \"None\"\n", {name, {}, false}},
           // The first value counts, also of a block that ssh applies.
           {"StrictHostKeyChecking yes\nUserKnownHostsFile /a\nHostKeyAlias b\n"
            "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nHostKeyAlias c\n"
            "Host *\nStrictHostKeyChecking \"\nUserKnownHostsFile ~/x\n",
            {"b", {"/a"}, true}},
           {"UserKnownHostsFile /dev/null\nUserKnownHostsFile /a\n", {name, {}, false}},
           {"StrictHostKeyChecking no\nUserKnownHostsFile /b\n",
            {name, {"/a"}, true},
            "StrictHostKeyChecking yes\nHost x lima-m?-v?\nUserKnownHostsFile /a\n"},
           // Not of others.
           {"Host lima-my-vm-2 !lima-* *.org\nStrictHostKeyChecking \"\nHost !lima-my-vm *\n"
            "UserKnownHostsFile /a\nInclude /x\n",
            {name, {}, false},
            "Host lima-other\nStrictHostKeyChecking yes\n"}}) {
    EXPECT_EQ(ParseForMyVm(before + kHost + kMinimal + options).host_key, rules) << options;
  }
}

TEST(SshConfig, LooksUpTheAddressIfThereIsNoAlias) {
  const std::string keys = std::string(kHost) + "IdentityFile /k\nUser me\n";
  EXPECT_EQ(ParseForMyVm(keys + "HostName LocalHost\nPort 22\n").host_key.name, "localhost");
  EXPECT_EQ(ParseForMyVm(keys + "HostName LocalHost\nPort 23\n").host_key.name, "[localhost]:23");
}

// An option on host keys that is not understood must not mean "no check".
TEST(SshConfig, RefusesRulesOnHostKeysThatItCannotObey) {
  const std::map<std::string, std::vector<std::string>> refused = {
      {"StrictHostKeyChecking", {"perhaps", "yes no", "\"yes", "y\"es\"", "'yes'", "==yes"}},
      {"HostKeyAlias", {"a b", "\"a", "%n", "a\\b"}},
      {"UserKnownHostsFile",
       {"relative", "~/.ssh/known_hosts", "%d/k", "/%d/k", "${HOME}/k", "\"${HOME}/k\"", "/${X}/k",
        "/a \"/b", "\"/a\"/b", "/a \"/b\"c", "'/a'", "/a\\ b", "\"/a\\\"b\"", "/a ~/b"}},
      {"GlobalKnownHostsFile", {"relative"}},
      {"KnownHostsCommand", {"/some/program %H", "/some/program", "none x"}},
      {"RevokedHostKeys", {"/a"}}};
  for (const auto& [keyword, values] : refused) {
    for (std::string value : values) {
      const std::string line = keyword + " " + value;
      const std::string host = std::string(kHost) + kMinimal;
      const auto is_named = AllOf(HasSubstr("ssh.config: \"" + keyword), HasSubstr("not supported"),
                                  HasSubstr("`limactl stop my_vm && limactl start my_vm`"));
      EXPECT_THAT(SshConfigErrorOf(host + line + "\n"), is_named) << line;
      EXPECT_THAT(SshConfigErrorOf(line + "\r\n" + host), is_named) << line;
      EXPECT_THAT(SshConfigErrorOf(host + "Host *\n" + line), is_named) << line;
    }
    for (const char* end : {"", " ", "=", " = # /a", " \"\""}) {
      EXPECT_THAT(SshConfigErrorOf(kHost + (kMinimal + keyword) + end), HasSubstr("not supported"))
          << keyword << end;
    }
    EXPECT_THAT(SshConfigErrorOf(std::string(kHost) + kMinimal + '"' + keyword + "\" none\n"),
                HasSubstr("not supported"));
  }
}

TEST(SshConfig, RefusesWhatChangesTheConnection) {
  for (const char* line : {"Include /x", "Match all", "ProxyCommand nc %h %p", "ProxyJump other",
                           "ProxyUseFdpass yes", "Host \"lima"}) {
    EXPECT_THAT(SshConfigErrorOf(std::string(kHost) + kMinimal + line + "\n"),
                HasSubstr("is not supported"))
        << line;
  }
}

}  // namespace
}  // namespace lima
