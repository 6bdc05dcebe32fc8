// share/lima/templates, used by a real limactl.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lima/configuration.h"
#include "lima/home.h"
#include "lima/mounts.h"
#include "testing/limactl.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

namespace fs = std::filesystem;
using testing_support::Limactl;
using testing_support::ProcessResult;

// Replace Lima's own, so that nothing is downloaded.
constexpr const char* kImages =
    "images:\n"
    "- {location: /nonexistent.img, arch: x86_64}\n"
    "- {location: /nonexistent.img, arch: aarch64}\n";

/// A prefix with limactl in bin and the templates in share/lima, as they are installed.
class AgentSandboxTemplate : public testing::Test {
 protected:
  void SetUp() override {
    try {
      limactl_ = std::make_unique<Limactl>();
    } catch (const std::runtime_error& error) {
      GTEST_SKIP() << "the template is not tried with a real limactl: " << error.what();
    }
    fs::create_directories(home() / "bin");
    fs::copy_file(limactl_->program(), home() / "bin/limactl");
    fs::create_directories(home() / "share/lima");
    fs::copy(LIMACTL_MCP_TEMPLATES, home() / "share/lima/templates", fs::copy_options::recursive);
    const fs::path images = lima_home() / "_templates/_images/ubuntu-24.04.yaml";
    fs::create_directories(images.parent_path());
    std::ofstream(images) << kImages;
    fs::create_directories(project());
  }

  [[nodiscard]] ProcessResult RunLimactl(const std::vector<std::string>& arguments) const {
    limactl_->GiveAway(home());
    auto options = limactl_->Command(arguments, home(), lima_home());
    for (std::string& argument : options.arguments) {
      if (argument == limactl_->program()) argument = home() / "bin/limactl";
    }
    return testing_support::RunProcess(options);
  }

  /// limactl writes lima.yaml, then fails to find the image.
  [[nodiscard]] ProcessResult Create(const std::vector<std::string>& parameters) const {
    std::vector<std::string> arguments = {"--tty=false", "create", "--name=agent"};
    arguments.insert(arguments.end(), parameters.begin(), parameters.end());
    arguments.emplace_back("template:agent-sandbox");
    return RunLimactl(arguments);
  }

  /// The instance with limactl's defaults.
  [[nodiscard]] nlohmann::json Configuration() const {
    const ProcessResult listed = RunLimactl({"list", "--json", "agent"});
    const nlohmann::json instance = nlohmann::json::parse(listed.output, nullptr, false);
    if (instance.is_object() && instance.contains("config")) return instance["config"];
    ADD_FAILURE() << listed.output << listed.error;
    return nlohmann::json::object();
  }

  [[nodiscard]] fs::path home() const { return directory_.path(); }
  [[nodiscard]] fs::path lima_home() const { return home() / "lima"; }
  [[nodiscard]] fs::path project() const { return home() / "my {first} project"; }

 private:
  testing_support::TemporaryDirectory directory_;
  std::unique_ptr<Limactl> limactl_;
};

TEST_F(AgentSandboxTemplate, IsValid) {
  const ProcessResult result =
      RunLimactl({"validate", home() / "share/lima/templates/agent-sandbox.yaml"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

TEST_F(AgentSandboxTemplate, MountsOnlyWhatIsGiven) {
  const ProcessResult created = Create({"--mount-only", project().string() + ":w"});
  const nlohmann::json configuration = Configuration();
  const nlohmann::json& mounts = configuration.value("mounts", nlohmann::json::array());
  ASSERT_EQ(mounts.size(), 1U) << created.error;
  EXPECT_EQ(mounts[0].at("location"), project().string());
  EXPECT_EQ(mounts[0].at("mountPoint"), project().string());
  EXPECT_EQ(mounts[0].at("writable"), true);
  EXPECT_EQ(mounts[0].at("9p").at("cache"), "mmap");

  const std::vector<Mount> ours =
      ListMounts(LoadConfiguration(lima_home(), "agent"), ReadHostFacts(), {});
  ASSERT_EQ(ours.size(), 1U);
  EXPECT_EQ(ours[0].location, project());
  EXPECT_EQ(ours[0].mount_point, project());
  EXPECT_TRUE(ours[0].writable);
  EXPECT_FALSE(ours[0].reads_may_be_stale);
}

TEST_F(AgentSandboxTemplate, MountsNothingByDefault) {
  const ProcessResult created = Create({});
  const nlohmann::json configuration = Configuration();
  EXPECT_EQ(configuration.value("name", ""), "") << created.error;
  EXPECT_TRUE(configuration.value("mounts", nlohmann::json::array()).empty());
}

TEST_F(AgentSandboxTemplate, ForwardsNoPortsAndHasNeitherContainersNorTheUsersKeys) {
  const ProcessResult created = Create({});
  const nlohmann::json configuration = Configuration();
  const nlohmann::json& rules = configuration.value("portForwards", nlohmann::json::array());
  ASSERT_EQ(rules.size(), 1U) << created.error;
  EXPECT_EQ(rules[0].at("ignore"), true);
  EXPECT_EQ(rules[0].at("guestIP"), "0.0.0.0");
  EXPECT_EQ(rules[0].at("guestIPMustBeZero"), false) << "what listens on 127.0.0.1 only counts too";
  EXPECT_EQ(rules[0].at("proto"), "any");
  EXPECT_EQ(rules[0].at("guestPortRange"), (nlohmann::json{1, 65535}));
  EXPECT_EQ(configuration.at("containerd").at("system"), false);
  EXPECT_EQ(configuration.at("containerd").at("user"), false);
  for (const char* key : {"loadDotSSHPubKeys", "forwardAgent", "forwardX11"}) {
    EXPECT_EQ(configuration.at("ssh").at(key), false) << key;
  }
}

}  // namespace
}  // namespace lima
