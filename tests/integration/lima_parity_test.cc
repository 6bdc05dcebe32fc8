// SPDX-License-Identifier: Apache-2.0
// Compares plugin/server/lima with a real limactl over the same instance directories.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "lima/configuration.h"
#include "lima/home.h"
#include "lima/mounts.h"
#include "lima/status.h"
#include "testing/child_process.h"
#include "testing/fake_host_agent.h"
#include "testing/files.h"
#include "testing/sockets.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

namespace fs = std::filesystem;
using testing_support::FakeHostAgent;
using testing_support::ProcessResult;
using testing_support::RunProcess;
using testing_support::WriteFile;

// The entries that Lima requires, and parameters. The probe uses these, because Lima rejects unused
// ones.
const std::string kBase =
    "images: [{location: /nonexistent.img, arch: x86_64}]\narch: x86_64\nvmType: qemu\n"
    "param: {p: value, decimal: 1.50}\nprobes:\n- script: \"#!{{.Param.p}}{{.Param.decimal}}\"\n";

// A Lima home, and a real limactl over it: that of this machine, or else the one that the build has
// unpacked. limactl refuses root, for whom the user nobody runs a copy and owns all.
class LimaParity : public testing::Test {
 protected:
  void SetUp() override {
    fs::path program = testing_support::FindProgram("limactl");
    if (program.empty()) program = LIMACTL_MCP_REFERENCE_LIMACTL;
    if (!fs::exists(program)) GTEST_SKIP() << "no limactl: neither on PATH nor " << program;
    if (is_root_) {
      program_ = directory_.path() / "limactl";
      fs::copy_file(program, program_);
    } else {
      program_ = program;
    }
    fs::create_directories(lima_home());
    const auto version = RunLimactl({"--version"});
    if (version.exit_code != 0) GTEST_SKIP() << "limactl does not run: " << version.error;
  }

  [[nodiscard]] fs::path home() const { return directory_.path(); }
  [[nodiscard]] fs::path lima_home() const { return directory_.path() / "lima"; }

  [[nodiscard]] ProcessResult RunLimactl(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), program_);
    if (is_root_) {
      const std::string id = std::to_string(kNobody);
      RunProcess({.arguments = {"chown", "-hR", id, home()}});
      arguments.insert(arguments.begin(),
                       {"setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups"});
    }
    return RunProcess({.arguments = arguments,
                       .environment = {{"HOME", home()}, {"LIMA_HOME", lima_home()}},
                       .working_directory = "/"});
  }

  // `limactl list --json NAME`; a null value where limactl cannot load the instance.
  [[nodiscard]] nlohmann::json List(const std::string& name) const {
    const auto result = RunLimactl({"list", "--json", name});
    const auto instance = nlohmann::json::parse(result.output, nullptr, false);
    if (!instance.is_object() || !instance.contains("config")) return nullptr;
    return instance["config"].is_object() ? instance : nlohmann::json();
  }

  // The facts of the user that limactl runs as.
  [[nodiscard]] HostFacts Host() const {
    const uid_t user = is_root_ ? kNobody : ::geteuid();
    const struct passwd* entry = ::getpwuid(user);
    return {home(), entry == nullptr ? "" : entry->pw_name, user, "/tmp"};
  }

 private:
  static constexpr uid_t kNobody = 65534;
  const bool is_root_ = ::geteuid() == 0;
  testing_support::TemporaryDirectory directory_;
  fs::path program_;
};

// "LOCATION -> MOUNTPOINT WRITABLE CACHE", one a line; mount points uncleaned, as Lima has them.
std::string Show(const std::vector<Mount>& mounts) {
  std::ostringstream text;
  for (const Mount& mount : mounts) {
    text << mount.location << " -> " << mount.unclean_mount_point << " " << mount.writable << " "
         << mount.nine_p_cache << "\n";
  }
  return text.str();
}

std::string Show(const nlohmann::json& config) {
  std::ostringstream text;
  for (const nlohmann::json& mount : config.value("mounts", nlohmann::json::array())) {
    text << mount.at("location").get<std::string>() << " -> "
         << mount.at("mountPoint").get<std::string>() << " " << mount.at("writable").get<bool>()
         << " " << mount.at("9p").at("cache").get<std::string>() << "\n";
  }
  return text.str();
}

/// `text` with line breaks and tabs in place of "\\n" and "\\t".
std::string Unescaped(std::string text) {
  for (const auto& [escape, character] : {std::pair("\\n", "\n"), std::pair("\\t", "\t")}) {
    for (std::size_t at = 0; (at = text.find(escape, at)) != std::string::npos;) {
      text.replace(at, 2, character);
    }
  }
  return text + "\n";
}

/// "VERDICT: LIMA.YAML[ | DEFAULT.YAML | OVERRIDE.YAML]"
TEST_F(LimaParity, HoldsForMountsShellAndSystemOfTheTable) {
  std::istringstream table(testing_support::ReadFile(LIMACTL_MCP_PARITY_TABLE));
  int cases = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("#")) continue;
    SCOPED_TRACE(line);
    ++cases;
    const std::string verdict = line.substr(0, line.find(':'));
    std::string rest = line.substr(std::min(line.size(), verdict.size() + 2));
    for (const char* file :
         {"my_vm.1/lima.yaml", "_config/default.yaml", "_config/override.yaml"}) {
      const std::size_t end = std::min(rest.find(" | "), rest.size());
      const bool is_main = std::string(file).starts_with("my_vm");
      WriteFile(lima_home() / file, (is_main ? kBase : "") + Unescaped(rest.substr(0, end)));
      rest.erase(0, end + 3);
    }
    const nlohmann::json instance = List("my_vm.1");
    EXPECT_EQ(instance.is_null(), verdict == "refused") << instance;
    const auto load = [&] { return LoadConfiguration(lima_home(), "my_vm.1"); };
    if (verdict != "same") {
      EXPECT_THROW((ListMounts(load(), Host()), LoginShell(load())), support::Error);
      continue;
    }
    const nlohmann::json& config = instance.at("config");
    const InstanceConfiguration configuration = load();
    EXPECT_EQ(Show(ListMounts(configuration, Host())), Show(config));
    EXPECT_EQ(nlohmann::json(configuration.os), config.at("os"));
    EXPECT_EQ(nlohmann::json(configuration.plain), config.at("plain"));
    EXPECT_EQ(nlohmann::json(LoginShell(configuration)), config.at("user").at("shell"));
  }
  EXPECT_GE(cases, 65);
}

TEST_F(LimaParity, TheSameInstancesAreListed) {
  for (const char* name : {"beta", "alpha", "gamma_2"}) {
    WriteFile(lima_home() / name / "lima.yaml", kBase);
  }
  WriteFile(lima_home() / "_config/lima.yaml", "");
  WriteFile(lima_home() / ".hidden/lima.yaml", "");
  fs::create_directory_symlink("alpha", lima_home() / "link");
  const auto result = RunLimactl({"list", "--quiet"});
  std::string ours;
  for (const std::string& name : ListInstances(lima_home())) ours += name + "\n";
  EXPECT_EQ(ours, result.output) << result.error;
}

// "LIVE" and "DEAD" stand for such processes.
std::string PidOf(const std::string& text) {
  if (text == "LIVE") return std::to_string(::getpid());
  if (text != "DEAD") return text;
  testing_support::ChildProcess child({.arguments = {"true"}});
  EXPECT_TRUE(child.Wait(std::chrono::seconds(30)).has_value());
  return std::to_string(child.pid());
}

TEST_F(LimaParity, HoldsForTheStatus) {
  constexpr const char* kGood = FakeHostAgent::kGoodAnswer;
  constexpr const char* kNoDriver = "the driver is not";
  constexpr const char* kNoAgent = "the host agent is not";
  constexpr const char* kNoPid = ".pid does not hold a process id";
  struct Case {
    std::string host_agent_pid;  // empty: no file
    std::string driver_pid;
    std::string answer;  // of ha.sock; empty: there is none, "SILENT": it never answers
    const char* status;
    const char* reason = "";  // contained in ours
  };
  const fs::path instance = lima_home() / "vm";
  for (const Case& row :
       {Case{"", "", "", "Stopped"}, Case{"DEAD", "DEAD", "", "Stopped"},
        Case{"LIVE", "LIVE", kGood, "Running"}, Case{"LIVE", "DEAD", kGood, "Broken", kNoDriver},
        Case{"LIVE", "", kGood, "Broken", kNoDriver}, Case{"DEAD", "LIVE", "", "Broken", kNoAgent},
        Case{"", "LIVE", "", "Broken", kNoAgent},
        Case{"LIVE", "LIVE", "", "Broken", "cannot be used"},
        Case{"LIVE", "LIVE", "SILENT", "Broken", "in time"},
        Case{"LIVE", "LIVE", "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "Broken",
             "ha.sock cannot be used"},
        Case{"x", "LIVE", "", "Broken", kNoPid}, Case{"LIVE", "-", kGood, "Broken", kNoPid},
        Case{"0", "0", "", "Broken", kNoPid}}) {
    SCOPED_TRACE(row.host_agent_pid + ", " + row.driver_pid + ", " + row.answer);
    fs::remove_all(instance);
    WriteFile(instance / "lima.yaml", kBase);
    if (!row.host_agent_pid.empty())
      WriteFile(instance / "ha.pid", PidOf(row.host_agent_pid) + "\n");
    if (!row.driver_pid.empty()) WriteFile(instance / "qemu.pid", PidOf(row.driver_pid) + "\n");
    std::optional<FakeHostAgent> agent;
    support::FileDescriptor silent;
    if (row.answer == "SILENT") {
      silent = testing_support::ListenOnUnix(instance / "ha.sock");
    } else if (!row.answer.empty()) {
      agent.emplace(instance / "ha.sock", row.answer);
    }

    // Ours first: limactl removes pid files of dead processes.
    const Status status = InspectStatus(instance, "qemu");
    constexpr std::array kNames = {"Running", "Stopped", "Broken"};  // in the order of State
    EXPECT_STREQ(kNames.at(static_cast<std::size_t>(status.state)), row.status) << status.reason;
    EXPECT_THAT(status.reason, testing::HasSubstr(row.reason));
    EXPECT_EQ(fs::exists(instance / "ha.pid"), !row.host_agent_pid.empty());
    EXPECT_EQ(fs::exists(instance / "qemu.pid"), !row.driver_pid.empty());
    EXPECT_EQ(List("vm").at("status"), nlohmann::json(row.status));
  }
}

}  // namespace
}  // namespace lima
