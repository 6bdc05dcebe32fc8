#include "doctor/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "testing/temporary_directory.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST_F(InstallationTest, PluginsAreFoundBesideLimactlOnPathAndInLibexec) {
  Program("cellar/bin/limactl");
  const fs::path link = Link("brew/bin/limactl", directory.path() / "cellar/bin/limactl");
  const std::vector<fs::path> plugins = {Program("brew/bin/limactl-mcp"),
                                         Program("cellar/bin/limactl-mcp"),
                                         Program("one/limactl-mcp"),
                                         Program("two/limactl-mcp"),
                                         Program("brew/libexec/lima/limactl-mcp"),
                                         Program("brew/lib/lima/limactl-mcp"),
                                         Program("cellar/libexec/lima/limactl-mcp")};
  const std::string path = Path("one") + "::" + Path("two");
  EXPECT_EQ(FindPlugins(link, path), plugins);
  EXPECT_THAT(FindPlugins(std::nullopt, path), ElementsAre(plugins[2], plugins[3]));
}

TEST_F(InstallationTest, PluginsAreExecutableFilesEachOnce) {
  Program("a/limactl-mcp", "", fs::perms::owner_read);
  const fs::path first = Program("b/limactl-mcp");
  Link("c/limactl-mcp", first);
  fs::create_directories(directory.path() / "d/limactl-mcp");
  const fs::path second = Program("e/limactl-mcp");
  Link("f/limactl-mcp", "/no/such/file");
  std::string path;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) path += Path(name) + ":";
  EXPECT_THAT(FindPlugins(std::nullopt, path), ElementsAre(first, second));
}

TEST_F(InstallationTest, OwnAndParentProgramDiffer) {
  EXPECT_EQ(OwnProgram().filename(), "doctor_test");
  const fs::path parent = ParentProgram();
  EXPECT_TRUE(parent.empty() || parent.is_absolute()) << parent;
  EXPECT_NE(parent, OwnProgram());
}

TEST_F(InstallationTest, FirstPluginMustBeThisProgram) {
  const fs::path own = Program("a/limactl-mcp");
  const fs::path link = Link("b/limactl-mcp", own);
  const fs::path other = Program("c/limactl-mcp");
  EXPECT_EQ(CheckPlugin({link, other}, own).mark, Mark::kPassed);
  const Finding another = CheckPlugin({other, own}, own);
  EXPECT_EQ(another.mark, Mark::kFailed);
  EXPECT_THAT(another.text, AllOf(HasSubstr(other.string()), HasSubstr(own.string())));
  const Finding none = CheckPlugin({}, own);
  EXPECT_EQ(none.mark, Mark::kFailed);
  EXPECT_THAT(none.text, HasSubstr(own.string()));
}

TEST_F(InstallationTest, LimactlMustBeVersionTwoOrLater) {
  for (const auto& [version, mark] :
       std::vector<std::pair<std::string, Mark>>{{"2.0.0", Mark::kPassed},
                                                 {"10.1.0-beta.0", Mark::kPassed},
                                                 {"2.1.0-34-gabcdef.m", Mark::kPassed},
                                                 {"1.9.9", Mark::kFailed},
                                                 {"0123abc", Mark::kWarning}}) {
    EXPECT_EQ(Limactl("echo limactl version " + version).mark, mark) << version;
  }
  EXPECT_EQ(CheckLimactl(std::nullopt, {}).mark, Mark::kFailed);
}

TEST_F(InstallationTest, LimactlThatFailsIsQuoted) {
  const Finding finding = Limactl("echo no good >&2; exit 4");
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("status 4"), HasSubstr("no good")));
}

}  // namespace
}  // namespace doctor
