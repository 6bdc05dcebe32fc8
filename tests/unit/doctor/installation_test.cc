#include "doctor/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "support/errors.h"
#include "testing/temporary_directory.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class InstallationTest : public ::testing::Test {
 protected:
  InstallationTest() { ::signal(SIGPIPE, SIG_IGN); }

  fs::path Program(const std::string& name, const std::string& script = "",
                   fs::perms permissions = fs::perms::owner_all) {
    fs::path path = directory.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" << script;
    fs::permissions(path, permissions);
    return path;
  }
  fs::path Link(const std::string& name, const fs::path& target) {
    fs::path path = directory.path() / name;
    fs::create_directories(path.parent_path());
    fs::create_symlink(target, path);
    return path;
  }
  [[nodiscard]] std::string Path(const std::string& name) const { return directory.path() / name; }

  Finding Limactl(const std::string& script) {
    return CheckLimactl(Program("limactl", script),
                        support::Context().WithTimeout(std::chrono::seconds(60)));
  }

  testing_support::TemporaryDirectory directory;
};

TEST_F(InstallationTest, FirstExecutableFileOnPathIsFound) {
  Program("a/limactl", "", fs::perms::owner_read);
  fs::create_directories(directory.path() / "b/limactl");
  const fs::path found = Program("c/limactl");
  Program("d/limactl");
  const std::string path =
      "::/no/such/directory:" + Path("a") + ":" + Path("b") + ":" + Path("c") + ":" + Path("d");
  EXPECT_EQ(FindProgram("limactl", path), found);
  EXPECT_EQ(FindProgram("limactl", Path("a")), std::nullopt);
  EXPECT_EQ(FindProgram("limactl", ""), std::nullopt);
}

TEST_F(InstallationTest, PluginsAreLookedForBesideLimactlOnPathAndInLibexec) {
  Program("cellar/bin/limactl");
  const fs::path link = Link("brew/bin/limactl", directory.path() / "cellar/bin/limactl");
  EXPECT_THAT(
      PluginDirectories(link, "/one:/two"),
      ElementsAre(Path("brew/bin"), Path("cellar/bin"), "/one", "/two", Path("brew/libexec/lima"),
                  Path("brew/lib/lima"), Path("cellar/libexec/lima"), Path("cellar/lib/lima")));
}

TEST_F(InstallationTest, PluginsAreLookedForOnPathAloneWhereThereIsNoLimactl) {
  EXPECT_THAT(PluginDirectories(std::nullopt, "/one::/two"), ElementsAre("/one", "/two"));
}

TEST_F(InstallationTest, PluginsAreExecutableFilesEachOnce) {
  Program("a/limactl-mcp", "", fs::perms::owner_read);
  const fs::path first = Program("b/limactl-mcp");
  Link("c/limactl-mcp", first);
  fs::create_directories(directory.path() / "d/limactl-mcp");
  const fs::path second = Program("e/limactl-mcp");
  Link("f/limactl-mcp", "/no/such/file");
  EXPECT_THAT(FindPlugins({Path("a"), Path("b"), Path("c"), Path("d"), Path("e"), Path("f")}),
              ElementsAre(first, second));
}

TEST_F(InstallationTest, OwnProgramIsThisOne) {
  EXPECT_EQ(OwnProgram().filename(), "doctor_test");
}

TEST_F(InstallationTest, ParentProgramIsAnother) {
  const fs::path parent = ParentProgram();
  EXPECT_TRUE(parent.empty() || parent.is_absolute()) << parent;
  EXPECT_NE(parent, OwnProgram());
}

TEST_F(InstallationTest, PluginThatIsThisProgramPassesAndOthersBehindItAreListed) {
  const fs::path own = Program("a/limactl-mcp");
  const fs::path link = Link("b/limactl-mcp", own);
  const fs::path other = Program("c/limactl-mcp");
  EXPECT_EQ(CheckPlugin({link}, own).mark, Mark::kPassed);
  const Finding finding = CheckPlugin({link, other}, own);
  EXPECT_EQ(finding.mark, Mark::kPassed);
  EXPECT_THAT(finding.text, HasSubstr("not used: " + other.string()));
}

TEST_F(InstallationTest, PluginBeforeThisProgramFails) {
  const fs::path own = Program("a/limactl-mcp");
  const fs::path other = Program("c/limactl-mcp");
  const Finding before = CheckPlugin({other, own}, own);
  EXPECT_EQ(before.mark, Mark::kFailed);
  EXPECT_THAT(before.text, AllOf(HasSubstr(other.string()),
                                 HasSubstr("comes before this one, " + own.string())));
  const Finding instead = CheckPlugin({other}, own);
  EXPECT_EQ(instead.mark, Mark::kFailed);
  EXPECT_THAT(instead.text, AllOf(HasSubstr(other.string()), HasSubstr("does not look")));
}

TEST_F(InstallationTest, NoPluginAtAllFails) {
  const Finding finding = CheckPlugin({}, "/build/limactl-mcp");
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, HasSubstr("/build/limactl-mcp"));
}

TEST_F(InstallationTest, LimactlPassesFromVersionTwoOn) {
  EXPECT_EQ(Limactl("echo limactl version 2.0.0").mark, Mark::kPassed);
  EXPECT_EQ(Limactl("echo limactl version 10.1.0-beta.0").mark, Mark::kPassed);
  EXPECT_EQ(Limactl("echo limactl version 2.1.0-34-gabcdef.m").mark, Mark::kPassed);
  EXPECT_EQ(Limactl("echo limactl version 1.9.9").mark, Mark::kFailed);
}

TEST_F(InstallationTest, LimactlWithoutAReleasesVersionIsAWarning) {
  const Finding finding = Limactl("echo limactl version 0123abc");
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.advice, HasSubstr("2.0"));
}

TEST_F(InstallationTest, LimactlThatFailsIsQuoted) {
  const Finding finding = Limactl("echo no good >&2; exit 4");
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("exit status 4"), HasSubstr("no good")));
}

TEST_F(InstallationTest, LimactlThatHangsIsGivenUp) {
  EXPECT_THROW(CheckLimactl(Program("limactl", "exec sleep 1000"),
                            support::Context().WithTimeout(std::chrono::milliseconds(20))),
               support::Stopped);
}

TEST_F(InstallationTest, MissingLimactlFails) {
  EXPECT_EQ(CheckLimactl(std::nullopt, {}).mark, Mark::kFailed);
}

}  // namespace
}  // namespace doctor
