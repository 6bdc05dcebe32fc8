// SPDX-License-Identifier: Apache-2.0
#include "lima/home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "lima/sandbox.h"
#include "support/errors.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryDirectory;
using testing_support::WriteFile;

TEST(HomeDirectory, IsLimaHomeElseDotLima) {
  EXPECT_EQ(HomeDirectory("/nowhere/lima", "/nowhere/user"), "/nowhere/lima");
  EXPECT_EQ(HomeDirectory("", "/nowhere/user"), "/nowhere/user/.lima");
}

TEST(HomeDirectory, ResolvesLinksAndRefusesRelativeMissingAndLoopingOnes) {
  const TemporaryDirectory directory;
  fs::create_directory(directory.path() / "real");
  fs::create_directory_symlink("real", directory.path() / "link");
  EXPECT_EQ(HomeDirectory(directory.path() / "link", ""), directory.path() / "real");
  EXPECT_THROW(HomeDirectory("lima", "/home/user"), support::Error);
  EXPECT_THROW(HomeDirectory("", ""), support::Error);
  fs::create_symlink("loop", directory.path() / "loop");
  EXPECT_THROW(HomeDirectory(directory.path() / "loop", ""), support::Error);
  WriteFile(directory.path() / "file", "");
  EXPECT_THROW(ListInstances(directory.path() / "file"), support::Error);
}

TEST(InstanceName, IsWhatLimaAccepts) {
  for (const char* name : {"default", "a", "0", "A-b_c.d", "docker-rootful", "my.yaml.vm"}) {
    EXPECT_NO_THROW(CheckInstanceName(name)) << name;
  }
  for (const char* name : {"",        ".",       "..",    "../x", "a/b",  "-oProxyCommand=x",
                           "_config", ".hidden", "a-",    "a..b", "a--b", "a_-b",
                           "a b",     "a\n",     "ä",     "a~",   "a%b",  "a.yml",
                           "a.yaml",  "a.YML",   "a.YaMl"}) {
    EXPECT_THAT(
        [name] { RequireInstance("/lima", name); },
        testing::ThrowsMessage<support::Error>(testing::HasSubstr("is not an instance name")));
  }
  EXPECT_EQ(HostnameOf("my_example.com"), "lima-my-example-com");
  EXPECT_NO_THROW(CheckInstanceName(std::string(kMaxInstanceName, 'a')));
  EXPECT_THROW(CheckInstanceName(std::string(kMaxInstanceName + 1, 'a')), support::Error);
}

// Each test is a process of its own.
TEST(HostFacts, ComeFromTheEnvironmentAndTheUserDatabase) {
  const auto set = [](const char* name, const char* value) { ::setenv(name, value, 1); };
  set("HOME", "/nowhere/me");
  set("TMPDIR", "/nowhere/tmp");
  const HostFacts facts = ReadHostFacts();
  EXPECT_EQ(facts.home, "/nowhere/me");
  EXPECT_EQ(facts.temp_dir, "/nowhere/tmp");
  EXPECT_EQ(facts.uid, ::getuid());
  EXPECT_NE(facts.user, "");
  EXPECT_NE(facts.arch, "");
  EXPECT_NE(facts.arch, "arm64") << "Lima writes aarch64";
  set("TMPDIR", "");
  EXPECT_EQ(ReadHostFacts().temp_dir, "/tmp");
  set("HOME", "me");
  EXPECT_THROW(ReadHostFacts(), support::Error) << "not absolute";
}

TEST(SandboxTemplate, IsNamedWhereLimactlFindsItElseTheInstalledFile) {
  const std::string file = "share/lima/templates/agent-sandbox.yaml";
  struct Row {
    std::string limactl;  ///< brew/bin/limactl itself, or what it is a link to
    std::string template_file;
    std::string program;
    bool is_named;
  };
  for (const auto& [limactl, template_file, program, is_named] :
       {Row{"brew/bin/limactl", "brew/" + file, "brew/bin/limactl-mcp", true},
        Row{"cellar/lima/bin/limactl", "brew/" + file, "brew/bin/limactl-mcp", true},
        Row{"brew/bin/limactl", "usr local/" + file, "usr local/bin/limactl-mcp", false},
        Row{"brew/bin/limactl", "checkout/" + file, "checkout/build/release/plugin/limactl-mcp",
            false}}) {
    const TemporaryDirectory directory;
    const fs::path top = directory.path();
    for (const std::string& name : {limactl, template_file, program}) WriteFile(top / name, "");
    fs::permissions(top / limactl, fs::perms::owner_all);
    fs::create_directories(top / "brew/bin");
    if (limactl != "brew/bin/limactl") fs::create_symlink(top / limactl, top / "brew/bin/limactl");
    EXPECT_EQ(SandboxTemplate(top / program, top / "brew/bin"),
              is_named ? "template:agent-sandbox" : (top / template_file).string());
  }
}

}  // namespace
}  // namespace lima
