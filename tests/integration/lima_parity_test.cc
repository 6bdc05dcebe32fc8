// Compares plugin/lima with a real limactl over the same instance directories.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "lima/configuration.h"
#include "lima/home.h"
#include "lima/mounts.h"
#include "lima/status.h"
#include "testing/fake_host_agent.h"
#include "testing/files.h"
#include "testing/limactl.h"
#include "testing/sockets.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

namespace fs = std::filesystem;
using testing_support::FakeHostAgent;
using testing_support::Limactl;
using testing_support::TemporaryDirectory;
using testing_support::WriteFile;

// The entries that Lima requires, and parameters. The probe uses these, because Lima rejects unused
// ones.
const std::string kBase =
    "images: [{location: /nonexistent.img, arch: x86_64}]\narch: x86_64\nvmType: qemu\n"
    "param: {p: value, decimal: 1.50}\nprobes:\n- script: \"#!{{.Param.p}}{{.Param.decimal}}\"\n";

// A Lima home, and a real limactl over it.
class LimaParity : public testing::Test {
 protected:
  void SetUp() override {
    try {
      limactl_ = std::make_unique<Limactl>();
    } catch (const std::runtime_error& error) {
      GTEST_SKIP() << "no comparison with a real limactl: " << error.what();
    }
    fs::create_directories(lima_home());
  }

  [[nodiscard]] fs::path home() const { return directory_.path(); }
  [[nodiscard]] fs::path lima_home() const { return directory_.path() / "lima"; }
  [[nodiscard]] const Limactl& limactl() const { return *limactl_; }

  // `limactl list --json NAME`; a null value where limactl cannot load the instance.
  [[nodiscard]] nlohmann::json List(const std::string& name) const {
    limactl().GiveAway(home());
    const auto result = limactl().Run({"list", "--json", name}, home(), lima_home());
    const auto instance = nlohmann::json::parse(result.output, nullptr, false);
    if (!instance.is_object() || !instance.contains("config")) return nullptr;
    return instance["config"].is_object() ? instance : nlohmann::json();
  }

  // The facts of the user that limactl runs as.
  [[nodiscard]] HostFacts Host() const {
    const struct passwd* entry = ::getpwuid(limactl().user_id());
    return {home(), entry == nullptr ? "" : entry->pw_name, limactl().user_id(), "/tmp"};
  }

  // The guest as Lima would make it.
  static GuestFacts Guest(const nlohmann::json& config) {
    const nlohmann::json& user = config.at("user");
    return {user.at("name"), user.at("home"), user.at("uid")};
  }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<Limactl> limactl_;
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
      const GuestFacts guest = {"guest", "/home/guest", 501};
      EXPECT_THROW((ListMounts(load(), Host(), guest), LoginShell(load())), ConfigurationError);
      continue;
    }
    const nlohmann::json& config = instance.at("config");
    const InstanceConfiguration configuration = load();
    EXPECT_EQ(Show(ListMounts(configuration, Host(), Guest(config))), Show(config));
    EXPECT_EQ(nlohmann::json(configuration.os), config.at("os"));
    EXPECT_EQ(nlohmann::json(configuration.plain), config.at("plain"));
    EXPECT_EQ(nlohmann::json(LoginShell(configuration)), config.at("user").at("shell"));
  }
  EXPECT_GE(cases, 70);
}

TEST_F(LimaParity, TheSameInstancesAreListed) {
  for (const char* name : {"beta", "alpha", "gamma_2"}) {
    WriteFile(lima_home() / name / "lima.yaml", kBase);
  }
  WriteFile(lima_home() / "_config/lima.yaml", "");
  WriteFile(lima_home() / ".hidden/lima.yaml", "");
  fs::create_directory_symlink("alpha", lima_home() / "link");
  limactl().GiveAway(home());
  const auto result = limactl().Run({"list", "--quiet"}, home(), lima_home());
  std::string ours;
  for (const std::string& name : ListInstances(lima_home())) ours += name + "\n";
  EXPECT_EQ(ours, result.output) << result.error;
}

struct StatusCase {
  const char* name;
  const char* host_agent_pid;  // "LIVE" and "DEAD" stand for such processes; empty: no file
  const char* driver_pid;
  const char* answer;  // of ha.sock; empty: there is none, "SILENT": it never answers
  const char* status;
  const char* reason = "";  // contained in ours
};
std::ostream& operator<<(std::ostream& stream, const StatusCase& c) {
  return stream << c.name;
}

class StatusParity : public LimaParity, public testing::WithParamInterface<StatusCase> {
 protected:
  void WritePid(const char* file, const std::string& text) const {
    if (text.empty()) return;
    std::string pid = text;
    if (text == "LIVE") pid = std::to_string(::getpid());
    if (text == "DEAD") {
      testing_support::ChildProcess child({.arguments = {"true"}});
      ASSERT_TRUE(child.Wait(std::chrono::seconds(30)).has_value());
      pid = std::to_string(child.pid());
    }
    WriteFile(lima_home() / "vm" / file, pid + "\n");
  }
};

TEST_P(StatusParity, Holds) {
  WriteFile(lima_home() / "vm/lima.yaml", kBase);
  WritePid("ha.pid", GetParam().host_agent_pid);
  WritePid("qemu.pid", GetParam().driver_pid);
  const fs::path socket = lima_home() / "vm/ha.sock";
  const std::string answer = GetParam().answer;
  std::optional<FakeHostAgent> agent;
  if (!answer.empty() && answer != "SILENT") agent.emplace(socket, answer);
  support::FileDescriptor silent;
  if (answer == "SILENT") silent = testing_support::ListenOnUnix(socket);

  // Ours first: limactl removes pid files of dead processes.
  const Status status = InspectStatus(lima_home() / "vm", "qemu");
  constexpr std::array kNames = {"Running", "Stopped", "Broken"};  // in the order of State
  EXPECT_STREQ(kNames.at(static_cast<std::size_t>(status.state)), GetParam().status)
      << status.reason;
  EXPECT_THAT(status.reason, testing::HasSubstr(GetParam().reason));
  EXPECT_EQ(fs::exists(lima_home() / "vm/ha.pid"), *GetParam().host_agent_pid != '\0');
  EXPECT_EQ(fs::exists(lima_home() / "vm/qemu.pid"), *GetParam().driver_pid != '\0');
  EXPECT_EQ(List("vm").at("status"), nlohmann::json(GetParam().status));
}

constexpr const char* kGood = FakeHostAgent::kGoodAnswer;

constexpr const char* kNoDriver = "the driver is not";
constexpr const char* kNoAgent = "the host agent is not";
constexpr const char* kNoPid = ".pid does not hold a process id";

INSTANTIATE_TEST_SUITE_P(
    Table, StatusParity,
    testing::Values(StatusCase{"nothing runs", "", "", "", "Stopped"},
                    StatusCase{"both have died", "DEAD", "DEAD", "", "Stopped"},
                    StatusCase{"both live", "LIVE", "LIVE", kGood, "Running"},
                    StatusCase{"the driver has died", "LIVE", "DEAD", kGood, "Broken", kNoDriver},
                    StatusCase{"no driver", "LIVE", "", kGood, "Broken", kNoDriver},
                    StatusCase{"the agent has died", "DEAD", "LIVE", "", "Broken", kNoAgent},
                    StatusCase{"no agent", "", "LIVE", "", "Broken", kNoAgent},
                    StatusCase{"no socket", "LIVE", "LIVE", "", "Broken", "cannot be used"},
                    StatusCase{"no answer", "LIVE", "LIVE", "SILENT", "Broken", "in time"},
                    StatusCase{"a bad answer", "LIVE", "LIVE",
                               "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "Broken",
                               "ha.sock cannot be used"},
                    StatusCase{"garbage for the agent", "x", "LIVE", "", "Broken", kNoPid},
                    StatusCase{"garbage for the driver", "LIVE", "-", kGood, "Broken", kNoPid},
                    StatusCase{"process zero", "0", "0", "", "Broken", kNoPid}));

}  // namespace
}  // namespace lima
