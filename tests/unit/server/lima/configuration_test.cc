// SPDX-License-Identifier: Apache-2.0
#include "lima/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "testing/error_of.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::TemporaryDirectory;
using testing_support::WriteFile;

InstanceConfiguration Parse(std::string_view text) {
  InstanceConfiguration configuration;
  ApplyFile(text, "test.yaml", configuration);
  return configuration;
}

std::string ParseErrorOf(std::string_view text) {
  return testing_support::ErrorOf<support::Error>([text] { return Parse(text); });
}

std::optional<bool> Writable(const std::string& value) {
  return Parse("mounts:\n- location: /x\n  writable: " + value + "\n").mounts.at(0).writable;
}

TEST(Configuration, AnEmptyFileSetsNothing) {
  for (const char* text :
       {"", " \n", "# comment\n", "---\n", "null\n", "mounts:\nuser:\nparam:\n"}) {
    const InstanceConfiguration file = Parse(text);
    EXPECT_FALSE(file.plain) << text;
    EXPECT_THAT(file.mounts, IsEmpty()) << text;
  }
}

TEST(Configuration, ReadsWhatThisProgramNeeds) {
  const InstanceConfiguration file = Parse(R"(
vmType: qemu
os: Darwin
arch: x86_64
plain: true
mountType: 9p
mountTypesUnsupported: [9p]
user: {home: "/home/{{.User}}", shell: /bin/fish, uid: 501}
param: {Name: value, count: 12}
cpus: 4
somethingNew: {a: [1, 2]}
mounts:
- location: "~"
- location: /tmp/lima
  mountPoint: /mnt
  writable: true
  9p: {cache: mmap}
  somethingNew: 1
)");
  EXPECT_EQ(file.vm_type, "qemu");
  EXPECT_EQ(file.os, "Darwin");
  EXPECT_EQ(file.arch, "x86_64");
  EXPECT_TRUE(file.plain);
  EXPECT_EQ(file.mount_type, "9p");
  EXPECT_TRUE(file.nine_p_is_unsupported);
  EXPECT_EQ(file.shell, "/bin/fish");
  EXPECT_EQ(file.param.at("Name"), "value");
  EXPECT_EQ(file.param.at("count"), "12");
  ASSERT_EQ(file.mounts.size(), 2U);
  EXPECT_EQ(file.mounts[0].location, "~");
  EXPECT_FALSE(file.mounts[0].mount_point.has_value());
  EXPECT_FALSE(file.mounts[0].writable.has_value());
  EXPECT_EQ(file.mounts[1].mount_point, "/mnt");
  EXPECT_EQ(file.mounts[1].writable, true);
  EXPECT_EQ(file.mounts[1].nine_p_cache, "mmap");
  EXPECT_EQ(file.mounts[1].where, "test.yaml: mounts[1] (line 14)");
}

TEST(Configuration, ReadsTruthValuesLikeLima) {
  for (const char* value : {"true", "True", "TRUE"}) {
    EXPECT_EQ(Writable(value), true) << value;
  }
  for (const char* value : {"false", "False", "FALSE"}) EXPECT_EQ(Writable(value), false) << value;
  for (const char* value : {"null", "~", "", "Null"}) {
    EXPECT_EQ(Writable(value), std::nullopt) << value;
  }
  for (const char* value : {"yes", "on", "y", "1", "0", "tRue", "\"true\"", "'true'", "!!str true",
                            "!!bool true", "!foo true", "[true]", "{a: 1}", "|\n    true"}) {
    EXPECT_THROW(Writable(value), support::Error) << value;
  }
  EXPECT_THAT(
      ParseErrorOf("mounts:\n- location: /x\n  writable: yes\n"),
      AllOf(HasSubstr("test.yaml: mounts[0].writable (line 3)"), HasSubstr("true or false")));
}

TEST(Configuration, RefusesWrongTypes) {
  for (const char* text :
       {"foo\n", "- a\n", "mounts: foo\n", "mounts: {location: /b}\n", "mounts:\n- /tmp/x\n",
        "mounts:\n- location: [a]\n", "mounts:\n- location: {a: b}\n", "mounts: [{9p: mmap}]\n",
        "user: foo\n", "user: {shell: []}\n", "param: [a]\n", "param: {a: []}\n", "os: [Linux]\n",
        "mountTypesUnsupported: 9p\n", "mounts: [{location: !!binary aGk=}]\n"}) {
    EXPECT_THROW(Parse(text), support::Error) << text;
  }
}

TEST(Configuration, RefusesDuplicateKeys) {
  for (const char* text :
       {"plain: true\nplain: false\n", "mounts:\n- location: /x\n  location: /y\n",
        "param: {p: a, p: b}\n", "param: {1: a, \"1\": b}\n", "~: a\nnull: b\n"}) {
    EXPECT_THAT(ParseErrorOf(text), HasSubstr("twice")) << text;
  }
}

TEST(Configuration, RefusesMerges) {
  for (const char* text :
       {"x: &x {plain: true}\n<<: *x\n", "mounts: [{<<: {location: /x}}]\n",
        "mounts: [{<<: null, location: /x}]\n", "mounts:\n- &m {<<: *m, location: /x}\n"}) {
    EXPECT_THAT(ParseErrorOf(text), HasSubstr("\"<<\" is not supported; write out")) << text;
  }
  EXPECT_FALSE(Parse("\"<<\": {plain: true}\n").plain) << "an ordinary key";
}

TEST(Configuration, FollowsAliasesAndReadsTheFirstDocument) {
  EXPECT_EQ(Parse("a: &a [{location: /x}]\nmounts: *a\n").mounts.at(0).location, "/x");
  EXPECT_THAT(ParseErrorOf("mounts: *a\n"), HasSubstr("test.yaml"));
  EXPECT_EQ(Parse("plain: false\n---\nplain: true\n").plain, false);
  EXPECT_EQ(Parse("---\nplain: true\n...\n").plain, true);
}

TEST(Configuration, RefusesWhatIsNotYamlOrReadersUnderstandDifferently) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view text : {"{{{{"sv, "[["sv, "mounts:\n\t- location: /x\n"sv, "a: \"x"sv,
                                      "? [a]\n: b\n"sv, "a: b: c\n"sv, "\177ELF\2"sv}) {
    EXPECT_THAT(ParseErrorOf(text), HasSubstr("test.yaml: ")) << text;
  }
  EXPECT_THAT(ParseErrorOf("a: \"x\0\"\n"sv), HasSubstr("NUL"));
  EXPECT_THAT(ParseErrorOf("mounts: [{location: \"/\xFF\"}]\n"), HasSubstr("UTF-8"));
  EXPECT_THAT(ParseErrorOf("\xEF\xBB\xBFplain: true\n"), HasSubstr("byte order mark"));
}

TEST(Configuration, BoundsNesting) {
  EXPECT_THAT(ParseErrorOf("a: " + std::string(100'000, '[')), HasSubstr("not valid YAML"));
}

TEST(Configuration, KnowsWhichParametersLimaRewrites) {
  for (const char* value :
       {"1.50", "0x10", "007", "+5", "-0", "1_000", ".5", ".inf", "True", "1e3", "!!str 1.50"}) {
    EXPECT_FALSE(Parse("param: {p: " + std::string(value) + "}\n").param.at("p")) << value;
  }
  for (const char* value :
       {"12", "-5", "0", "true", "abc", "1.2.3", "\"1.50\"", "'0x10'", "yes", "/path", ""}) {
    EXPECT_TRUE(Parse("param: {p: " + std::string(value) + "}\n").param.at("p")) << value;
  }
}

InstanceConfiguration Merge(const char* defaults, const char* main, const char* override_text) {
  return MergeConfiguration("/lima", "test", defaults, main, override_text);
}

TEST(MergeConfiguration, TheStrongerFileWins) {
  const InstanceConfiguration merged =
      Merge("os: Darwin\nuser: {shell: /bin/a}\nvmType: vz\nparam: {a: 1}\n",
            "os: FreeBSD\nuser: {uid: 2}\nparam: {b: 2}\n", "mountType: virtiofs\nparam: {c: 3}\n");
  ASSERT_EQ(merged.param.size(), 1U) << "only those of lima.yaml count";
  EXPECT_EQ(merged.param.begin()->first, "b");
  EXPECT_EQ(merged.os, "FreeBSD");
  EXPECT_EQ(merged.shell, "/bin/a");
  EXPECT_EQ(merged.vm_type, "vz");
  EXPECT_EQ(merged.mount_type, "virtiofs");
  EXPECT_EQ(merged.directory(), "/lima/test");
}

TEST(MergeConfiguration, PlainDropsAllMountsAndTheLaterFileWins) {
  const char* mount = "mounts: [{location: relative}]\n";
  EXPECT_THAT(Merge("plain: true\n", mount, "").mounts, IsEmpty());
  EXPECT_THAT(Merge("plain: true\n", mount, "plain: null\n").mounts, IsEmpty());
  EXPECT_EQ(Merge("plain: true\n", mount, "plain: false\n").mounts.size(), 1U);
}

TEST(MergeConfiguration, TheAgentIsForwardedOnRequest) {
  EXPECT_FALSE(Merge("", "", "").forwards_agent);
  EXPECT_TRUE(Merge("ssh: {forwardAgent: true}\n", "", "").forwards_agent);
  EXPECT_FALSE(
      Merge("ssh: {forwardAgent: true}\n", "ssh: {forwardAgent: false}\n", "").forwards_agent);
}

TEST(MergeConfiguration, SharedPartsOfAllFilesCount) {
  const auto merge = [](std::string_view defaults, std::string_view main, std::string_view after) {
    return MergeConfiguration("/lima", "vm", defaults, main, after).shared;
  };
  const SharedParts none =
      merge("", "blockDevices: []\nnetworks:\n- vzNAT: true\n- lima: ''\n", "");
  EXPECT_THAT(none.block_devices, IsEmpty());
  EXPECT_THAT(none.additional_disks, IsEmpty());
  EXPECT_THAT(none.networks, IsEmpty());
  EXPECT_FALSE(none.microphone);
  EXPECT_TRUE(none.host_loopback);

  const SharedParts all =
      merge("networks: [{socket: /run/x}]\nnetworkOpts: {hostLoopback: false}",
            "additionalDisks: [data, {name: more, format: false}, {}]\nnetworks: [{lima: shared}]\n"
            "audio: {microphone: true}\n",
            "\nblockDevices:\n- /dev/disk4\n");
  EXPECT_THAT(all.block_devices, ElementsAre("/dev/disk4"));
  EXPECT_EQ(all.block_devices_where, "/lima/_config/override.yaml: blockDevices (line 3)");
  EXPECT_THAT(all.additional_disks, ElementsAre("data", "more", "unnamed"));
  EXPECT_THAT(all.networks, ElementsAre("/run/x", "shared"));
  EXPECT_TRUE(all.microphone);
  EXPECT_FALSE(all.host_loopback);
  EXPECT_FALSE(merge("", "audio: {microphone: true}", "audio: {microphone: false}").microphone);
  EXPECT_THROW(merge("", "blockDevices: /dev/disk4", ""), support::Error);
}

TEST(MergeConfiguration, PortsAreForwardedUnlessARuleIgnoresThemAll) {
  const auto forwards = [](const std::string& rule) {
    return Merge("", ("portForwards:\n- {guestPort: 3000}\n- {" + rule + "}\n").c_str(), "")
        .forwards_ports;
  };
  EXPECT_TRUE(Merge("", "", "").forwards_ports);
  EXPECT_FALSE(Merge("plain: true\n", "", "").forwards_ports);
  const std::string all = "guestIP: 0.0.0.0, guestIPMustBeZero: false, ignore: true";
  EXPECT_FALSE(forwards(all));
  EXPECT_FALSE(forwards(all + ", proto: any"));
  EXPECT_TRUE(forwards(all + ", proto: tcp"));
  EXPECT_TRUE(forwards(all + ", guestPort: 80"));
  EXPECT_TRUE(forwards("guestIP: 0.0.0.0, ignore: true")) << "other addresses remain";
  EXPECT_TRUE(forwards("guestIP: 0.0.0.0, guestIPMustBeZero: false"));
}

TEST(MergeConfiguration, EmptyAndDefaultAreNotSet) {
  for (const char* text : {"arch: \"\"\nvmType: \"\"\nmountType: \"\"\nos: \"\"\n",
                           "arch: default\nvmType: default\nmountType: default\nos: default\n"}) {
    const InstanceConfiguration merged = Merge("", text, "");
    EXPECT_EQ(merged.arch, std::nullopt) << text;
    EXPECT_EQ(merged.vm_type, std::nullopt) << text;
    EXPECT_EQ(merged.mount_type, std::nullopt) << text;
    EXPECT_EQ(merged.os, "Linux") << text;
  }
}

TEST(LoginShell, IsTheConfiguredOneElseTheGuestsOwn) {
  EXPECT_EQ(LoginShell(Merge("", "", "")), "/bin/bash");
  EXPECT_EQ(LoginShell(Merge("", "os: FreeBSD\n", "")), "/bin/sh");
  EXPECT_EQ(LoginShell(Merge("", "os: Darwin\n", "")), "/bin/zsh");
  EXPECT_EQ(LoginShell(Merge("user: {shell: /bin/fish}\n", "os: Darwin\n", "")), "/bin/fish");
  EXPECT_THROW(LoginShell(Merge("", "os: Windows\n", "")), support::Error);
}

TEST(LoadConfiguration, ReadsTheThreeFiles) {
  const TemporaryDirectory home;
  WriteFile(home.path() / "_config/default.yaml", "mounts: [{location: /d}]\n");
  WriteFile(home.path() / "vm/lima.yaml", "mounts: [{location: /m}]\n");
  WriteFile(home.path() / "_config/override.yaml", "user: {shell: /o}\n");
  const InstanceConfiguration configuration = LoadConfiguration(home.path(), "vm");
  EXPECT_EQ(configuration.mounts.size(), 2U);
  EXPECT_EQ(configuration.shell, "/o");
  EXPECT_EQ(configuration.directory(), home.path() / "vm");
}

std::string LoadErrorOf(const std::filesystem::path& home) {
  return testing_support::ErrorOf<support::Error>(
      [&home] { return LoadConfiguration(home, "vm"); });
}

TEST(LoadConfiguration, NamesAMissingInstanceAndAnInvalidFile) {
  const TemporaryDirectory home;
  std::filesystem::create_directory(home.path() / "vm");
  EXPECT_THAT(LoadErrorOf(home.path()),
              AllOf(HasSubstr("no Lima instance \"vm\""), HasSubstr(home.path().string())));
  WriteFile(home.path() / "vm/lima.yaml", "plain: false\n");
  WriteFile(home.path() / "_config/default.yaml", "[[\n");
  EXPECT_THAT(LoadErrorOf(home.path()), HasSubstr("_config/default.yaml: "));
  WriteFile(home.path() / "_config/default.yaml", "");
  WriteFile(home.path() / "_config/override.yaml", "plain: yes\n");
  EXPECT_THAT(LoadErrorOf(home.path()), HasSubstr("_config/override.yaml: plain"));
}

TEST(LoadConfiguration, RefusesAnythingButAReadableFile) {
  const TemporaryDirectory home;
  const std::filesystem::path file = home.path() / "vm/lima.yaml";
  std::filesystem::create_directories(file);
  EXPECT_THAT(LoadErrorOf(home.path()), HasSubstr("not a regular file"));
  std::filesystem::remove(file);
  std::filesystem::create_symlink("lima.yaml", file);  // stops root too, unlike a mode
  EXPECT_THAT(LoadErrorOf(home.path()), HasSubstr("cannot read " + file.string() + ": "));
  std::filesystem::remove(file);
  const std::string fits = "#" + std::string(kMaxConfigurationFile - 1, 'x');
  WriteFile(file, fits);
  EXPECT_EQ(LoadErrorOf(home.path()), "no error");
  WriteFile(file, fits + "x");
  EXPECT_THAT(LoadErrorOf(home.path()), HasSubstr("larger than"));
}

TEST(ConfigurationTest, NetworkIsClosedOnlyIfLimaYamlSaysExactlyThat) {
  const auto closed = [](const char* text) {
    return MergeConfiguration("/lima", "closed", "", text, "").closed();
  };
  for (const char* text : {"param: {agentNetwork: closed}", "param: {agentNetwork: \"closed\"}",
                           "param: {agentNetwork: 'closed'}"})
    EXPECT_TRUE(closed(text)) << text;
  for (const char* text : {"", "param: {}", "param: {agentNetwork: open}", "agentNetwork: closed",
                           "param: {agentNetwork: Closed}", "param: {agentNetwork: }"})
    EXPECT_FALSE(closed(text)) << text;
  EXPECT_FALSE(MergeConfiguration("/lima", "x", "param: {agentNetwork: closed}", "param: {a: b}",
                                  "param: {agentNetwork: closed}")
                   .closed());
  EXPECT_EQ(MergeConfiguration("/lima", "x", "", "param: {hostHome: /home/me}", "").host_home(),
            "/home/me");
}

}  // namespace
}  // namespace lima
