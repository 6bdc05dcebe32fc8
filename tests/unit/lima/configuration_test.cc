// The three files of an instance.

#include "lima/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::TemporaryDirectory;
using testing_support::WriteFile;

InstanceConfiguration Merge(const char* defaults, const char* main, const char* override_text) {
  return MergeConfiguration("/lima", "test", defaults, main, override_text);
}

TEST(MergeConfiguration, TheStrongerFileWins) {
  const InstanceConfiguration merged =
      Merge("os: Darwin\nuser: {shell: /bin/a, uid: 1, home: /a}\nvmType: vz\n",
            "os: FreeBSD\nuser: {uid: 2}\n", "mountType: virtiofs\n");
  EXPECT_EQ(merged.os, "FreeBSD");
  EXPECT_EQ(merged.user.shell, "/bin/a");
  EXPECT_EQ(merged.user.uid, 2U);
  EXPECT_EQ(merged.user.home, "/a");
  EXPECT_EQ(merged.user.home_where, "/lima/_config/default.yaml: user.home (line 2)");
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

TEST(MergeConfiguration, OnlyLimaYamlsOwnParametersCount) {
  const InstanceConfiguration merged =
      Merge("param: {a: 1}\n", "param: {b: 2}\n", "param: {c: 3}\n");
  ASSERT_EQ(merged.param.size(), 1U);
  EXPECT_EQ(merged.param.begin()->first, "b");
}

TEST(MergeConfiguration, EmptyAndDefaultAreNotSet) {
  for (const char* text : {"arch: \"\"\nvmType: \"\"\nmountType: \"\"\n",
                           "arch: default\nvmType: default\nmountType: default\n"}) {
    const InstanceConfiguration merged = Merge("", text, "");
    EXPECT_EQ(merged.arch, std::nullopt) << text;
    EXPECT_EQ(merged.vm_type, std::nullopt) << text;
    EXPECT_EQ(merged.mount_type, std::nullopt) << text;
  }
}

TEST(MergeConfiguration, TheOperatingSystemIsLinuxByDefault) {
  EXPECT_EQ(Merge("", "os: default\n", "").os, "Linux");
  EXPECT_EQ(Merge("", "os: \"\"\n", "").os, "Linux");
}

TEST(LoginShell, IsTheConfiguredOneElseTheGuestsOwn) {
  EXPECT_EQ(LoginShell(Merge("", "", "")), "/bin/bash");
  EXPECT_EQ(LoginShell(Merge("", "os: FreeBSD\n", "")), "/bin/sh");
  EXPECT_EQ(LoginShell(Merge("", "os: Darwin\n", "")), "/bin/zsh");
  EXPECT_EQ(LoginShell(Merge("user: {shell: /bin/fish}\n", "os: Darwin\n", "")), "/bin/fish");
  EXPECT_THROW(LoginShell(Merge("", "os: Windows\n", "")), ConfigurationError);
}

TEST(LoadConfiguration, ReadsTheThreeFiles) {
  const TemporaryDirectory home;
  WriteFile(home.path() / "_config/default.yaml", "mounts: [{location: /d}]\n");
  WriteFile(home.path() / "vm/lima.yaml", "mounts: [{location: /m}]\n");
  WriteFile(home.path() / "_config/override.yaml", "user: {uid: 5}\n");
  const InstanceConfiguration configuration = LoadConfiguration(home.path(), "vm");
  EXPECT_EQ(configuration.mounts.size(), 2U);
  EXPECT_EQ(configuration.user.uid, 5U);
  EXPECT_EQ(configuration.directory(), home.path() / "vm");
}

std::string LoadErrorOf(const std::filesystem::path& home) {
  try {
    LoadConfiguration(home, "vm");
  } catch (const ConfigurationError& error) {
    return error.what();
  }
  return "no error";
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

}  // namespace
}  // namespace lima
