#include "lima/sandbox.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_directory.h"

namespace lima {
namespace {

namespace fs = std::filesystem;

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
