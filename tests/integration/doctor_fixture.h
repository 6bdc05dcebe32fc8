#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/fixture.h"

namespace integration {

/// `limactl mcp doctor`, a fake limactl, and an instance with a writable mount.
class Doctor : public IntegrationTest {
 protected:
  /// Longer than a check takes, shorter than all deadlines together.
  static constexpr std::chrono::seconds kTimeout{110};

  void SetUp() override {
    MakeDirectory("project");
    options_.mounts = {{project, "", true}};
    // limactl refuses root, and tests may run as root.
    MakeProgram("bin/limactl",
                "case $1 in\n"
                "--version) echo limactl version 2.2.0 ;;\n"
                "mcp) shift; exec limactl-mcp \"$@\" ;;\n"
                "esac\n");
    MakeLink("bin/limactl-mcp", ServerProgram());
  }

  testing_support::LoopbackInstance& Start() { return StartInstance(options_); }

  [[nodiscard]] testing_support::ProcessResult RunDoctor(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "doctor");
    testing_support::ChildProcess::Options options = ServerOptions(arguments);
    options.environment["PATH"] = path_;
    return testing_support::RunProcess(options, "", kTimeout);
  }

  /// What `doctor --json` prints: each check under its name.
  nlohmann::json Examine(const std::string& instance = "default") {
    const testing_support::ProcessResult result = RunDoctor({"--json", instance});
    const nlohmann::json report = nlohmann::json::parse(result.output, nullptr, false);
    if (!report.is_object()) {
      ADD_FAILURE() << "no JSON: " << result.output << result.error;
      return nlohmann::json::object();
    }
    EXPECT_EQ(result.exit_code, report.at("passed") ? 0 : 1);
    nlohmann::json checks = nlohmann::json::object();
    for (const nlohmann::json& check : report.at("checks")) {
      checks[check.at("name").get<std::string>()] = check;
      if (check.at("result") == "warning" || check.at("result") == "failed") {
        EXPECT_THAT(check.value("advice", ""), ::testing::Not(::testing::IsEmpty())) << check;
      }
    }
    return checks;
  }

  static std::vector<std::string> With(const std::string& result, const nlohmann::json& checks) {
    std::vector<std::string> names;
    for (const auto& [name, check] : checks.items()) {
      if (check.at("result") == result) names.push_back(name);
    }
    return names;
  }

  /// The text of the only check that failed.
  std::string OnlyFailure(const std::string& name, const nlohmann::json& checks) {
    EXPECT_THAT(With("failed", checks), ::testing::ElementsAre(name)) << checks.dump(2);
    return TextAndAdvice(name, checks);
  }
  std::string OnlyWarning(const std::string& name, const nlohmann::json& checks) {
    EXPECT_THAT(With("failed", checks), ::testing::IsEmpty()) << checks.dump(2);
    EXPECT_THAT(With("warning", checks), ::testing::ElementsAre(name)) << checks.dump(2);
    return TextAndAdvice(name, checks);
  }
  static std::string TextAndAdvice(const std::string& name, const nlohmann::json& checks) {
    if (!checks.contains(name)) return "";
    return checks.at(name).at("text").get<std::string>() + " -> " +
           checks.at(name).value("advice", "");
  }
  static void ExpectSkipped(const std::vector<std::string>& names, const std::string& culprit,
                            const nlohmann::json& checks) {
    for (const std::string& name : names) {
      ASSERT_TRUE(checks.contains(name)) << name;
      EXPECT_EQ(checks.at(name).at("result"), "skipped") << name;
      EXPECT_THAT(checks.at(name).at("text").get<std::string>(),
                  ::testing::HasSubstr("see " + culprit));
    }
  }

  void ReplaceInSshConfig(const std::string& from, const std::string& to) {
    std::string text = ReadFile(SshConfig());
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    MakeFile("lima/default/ssh.config", text.replace(at, from.size(), to));
  }

  [[nodiscard]] std::filesystem::path SshConfig() const {
    return LimaHome() / "default/ssh.config";
  }

  const std::string project = Path("project").string();
  testing_support::LoopbackInstance::Options options_;
  std::string path_ = Path("bin").string() + ":/usr/local/bin:/usr/bin:/bin";
};

}  // namespace integration
