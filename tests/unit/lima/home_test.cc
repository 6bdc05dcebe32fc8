#include "lima/home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "lima/sandbox.h"
#include "lima/text_file.h"
#include "support/environment.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing_support::TemporaryDirectory;
using testing_support::WriteFile;

TEST(HomeDirectory, IsLimaHomeElseDotLima) {
  EXPECT_EQ(HomeDirectory("/nowhere/lima", "/nowhere/user"), "/nowhere/lima");
  EXPECT_EQ(HomeDirectory("", "/nowhere/user"), "/nowhere/user/.lima");
}

TEST(HomeDirectory, ResolvesLinksIfItExists) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "real");
  std::filesystem::create_directory_symlink("real", directory.path() / "link");
  EXPECT_EQ(HomeDirectory(directory.path() / "link", ""), directory.path() / "real");
}

TEST(HomeDirectory, RefusesRelativeMissingAndLoopingOnes) {
  EXPECT_THROW(HomeDirectory("lima", "/home/user"), ConfigurationError);
  EXPECT_THROW(HomeDirectory("", ""), ConfigurationError);
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("loop", directory.path() / "loop");
  EXPECT_THROW(HomeDirectory(directory.path() / "loop", ""), ConfigurationError);
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
        testing::ThrowsMessage<ConfigurationError>(testing::HasSubstr("is not an instance name")));
  }
  EXPECT_EQ(HostnameOf("my_example.com"), "lima-my-example-com");
  EXPECT_NO_THROW(CheckInstanceName(std::string(kMaxInstanceName, 'a')));
  EXPECT_THROW(CheckInstanceName(std::string(kMaxInstanceName + 1, 'a')), ConfigurationError);
}

TEST(Instances, AreDirectoriesWithALimaYaml) {
  const TemporaryDirectory home;
  WriteFile(home.path() / "beta/lima.yaml", "");
  WriteFile(home.path() / "alpha/lima.yaml", "");
  WriteFile(home.path() / "unfinished/ssh.config", "");
  WriteFile(home.path() / "_config/lima.yaml", "");
  WriteFile(home.path() / ".hidden/lima.yaml", "");
  WriteFile(home.path() / "not a name/lima.yaml", "");
  WriteFile(home.path() / "file", "");
  std::filesystem::create_directory_symlink("alpha", home.path() / "link");
  EXPECT_THAT(ListInstances(home.path()), ElementsAre("alpha", "beta"));
  EXPECT_NO_THROW(RequireInstance(home.path(), "alpha"));
  EXPECT_NO_THROW(RequireInstance(home.path(), "link"));  // limactl lists no link, but opens it
  EXPECT_THROW(RequireInstance(home.path(), "unfinished"), ConfigurationError);
  EXPECT_THROW(RequireInstance(home.path(), "gamma"), ConfigurationError);
}

TEST(Instances, AnUnreadableOneIsNotMissing) {
  const TemporaryDirectory home;
  WriteFile(home.path() / "alpha/lima.yaml", "");
  // A loop stops root too, unlike a mode.
  std::filesystem::create_directory_symlink("loop", home.path() / "loop");
  EXPECT_THAT([&home] { RequireInstance(home.path(), "loop"); },
              testing::ThrowsMessage<ConfigurationError>(testing::HasSubstr("cannot read")));
  EXPECT_THAT(ListInstances(home.path()), ElementsAre("alpha"));
}

TEST(Instances, AreNoneWithoutAHome) {
  EXPECT_THAT(ListInstances("/nonexistent/lima"), IsEmpty());
  const TemporaryDirectory directory;
  WriteFile(directory.path() / "file", "");
  EXPECT_THROW(ListInstances(directory.path() / "file"), ConfigurationError);
}

/// Restores the variables that a test sets.
class HostFactsTest : public testing::Test {
 protected:
  ~HostFactsTest() override {
    Set("HOME", home_);
    Set("TMPDIR", temp_);
  }
  static void Set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

 private:
  const std::string home_ = support::EnvironmentVariable("HOME");
  const std::string temp_ = support::EnvironmentVariable("TMPDIR");
};

TEST_F(HostFactsTest, ComeFromTheEnvironmentAndTheUserDatabase) {
  Set("HOME", "/nowhere/me");
  Set("TMPDIR", "/nowhere/tmp");
  const HostFacts facts = ReadHostFacts();
  EXPECT_EQ(facts.home, "/nowhere/me");
  EXPECT_EQ(facts.temp_dir, "/nowhere/tmp");
  EXPECT_EQ(facts.uid, ::getuid());
  EXPECT_NE(facts.user, "");
  EXPECT_NE(facts.arch, "");
  EXPECT_NE(facts.arch, "arm64") << "Lima writes aarch64";
  Set("TMPDIR", "");
  EXPECT_EQ(ReadHostFacts().temp_dir, "/tmp");
  Set("HOME", "me");
  EXPECT_THROW(ReadHostFacts(), ConfigurationError) << "not absolute";
}

class SandboxTemplateTest : public testing::Test {
 protected:
  fs::path Make(const std::string& name) {
    const fs::path file = directory_.path() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n";
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  [[nodiscard]] std::string Template(const fs::path& program) const {
    return SandboxTemplate(program, directory_.path() / "brew/bin");
  }

  testing_support::TemporaryDirectory directory_;
  const std::string file_ = "share/lima/templates/agent-sandbox.yaml";
};

TEST_F(SandboxTemplateTest, IsNamedWhereLimactlFindsIt) {
  Make("brew/bin/limactl");
  Make("brew/" + file_);
  EXPECT_EQ(Template(Make("brew/bin/limactl-mcp")), "template:agent-sandbox");
}

TEST_F(SandboxTemplateTest, IsFoundThroughAPrefixOfLinks) {
  fs::create_directories(directory_.path() / "brew/bin");
  fs::create_symlink(Make("cellar/lima/bin/limactl"), directory_.path() / "brew/bin/limactl");
  Make("brew/" + file_);
  EXPECT_EQ(Template(Make("brew/bin/limactl-mcp")), "template:agent-sandbox");
}

TEST_F(SandboxTemplateTest, IsTheInstalledFileUnderAnotherPrefix) {
  Make("brew/bin/limactl");
  const fs::path file = Make("usr local/" + file_);
  EXPECT_EQ(Template(Make("usr local/bin/limactl-mcp")), file.string());
}

TEST_F(SandboxTemplateTest, IsTheCheckoutsFileBesideABuild) {
  Make("brew/bin/limactl");
  const fs::path file = Make("checkout/" + file_);
  EXPECT_EQ(Template(Make("checkout/build/release/plugin/limactl-mcp")), file.string());
}

}  // namespace
}  // namespace lima
