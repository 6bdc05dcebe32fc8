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

// The entries that Lima requires. The probe uses the parameter, because Lima rejects unused ones.
constexpr const char* kBase =
    "images: [{location: /nonexistent.img, arch: x86_64}]\narch: x86_64\nvmType: qemu\n";
constexpr const char* kParameter =
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

enum class Verdict {
  kSame,      // both take it and get the same
  kRefused,   // both refuse it
  kStricter,  // limactl takes it, and we refuse it on purpose
};

struct Case {
  Verdict verdict;
  const char* main;
  const char* defaults = "";
  const char* override_text = "";
};
std::ostream& operator<<(std::ostream& stream, const Case& c) {
  return stream << c.main << "--- default.yaml\n"
                << c.defaults << "--- override.yaml\n"
                << c.override_text;
}

class ConfigurationParity : public LimaParity, public testing::WithParamInterface<Case> {};

TEST_P(ConfigurationParity, HoldsForMountsShellAndSystem) {
  WriteFile(lima_home() / "my_vm.1/lima.yaml", std::string(kBase) + GetParam().main);
  WriteFile(lima_home() / "_config/default.yaml", GetParam().defaults);
  WriteFile(lima_home() / "_config/override.yaml", GetParam().override_text);

  const nlohmann::json instance = List("my_vm.1");
  EXPECT_EQ(instance.is_null(), GetParam().verdict == Verdict::kRefused) << instance;

  const auto load = [&] { return LoadConfiguration(lima_home(), "my_vm.1"); };
  if (GetParam().verdict != Verdict::kSame) {
    const GuestFacts guest = {"guest", "/home/guest", 501};
    EXPECT_THROW((ListMounts(load(), Host(), guest), LoginShell(load())), ConfigurationError);
    return;
  }
  const nlohmann::json& config = instance.at("config");
  const InstanceConfiguration configuration = load();
  EXPECT_EQ(Show(ListMounts(configuration, Host(), Guest(config))), Show(config));
  EXPECT_EQ(nlohmann::json(configuration.os), config.at("os"));
  EXPECT_EQ(nlohmann::json(configuration.plain), config.at("plain"));
  EXPECT_EQ(nlohmann::json(LoginShell(configuration)), config.at("user").at("shell"));
}

INSTANTIATE_TEST_SUITE_P(
    Taken, ConfigurationParity,
    testing::Values(
        Case{Verdict::kSame, ""}, Case{Verdict::kSame, "mounts:\n"},
        Case{Verdict::kSame, "mounts: []\nunknown: {a: 1}\n"},
        Case{Verdict::kSame, "mounts: [{location: \"~\"}, {location: ~/x//y/../z/}]\n"},
        Case{Verdict::kSame, "mounts: [{location: /a/../../b/./c//, unknown: 1}]\n"},
        Case{Verdict::kSame,
             "mounts: [{location: \"{{.Dir}}/{{.Name}}/{{.UID}}/{{.User}}{{.Home}}\"}]\n"},
        Case{Verdict::kSame,
             "mounts: [{location: \"{{.Dir}}{{.GlobalTempDir}}{{.TempDir}}{{.LimaHome}}/"
             "{{.Instance}}\"}]\n"},
        Case{Verdict::kSame, "mounts: [{location: \"{{ .Home }}/x{{$.Name}}\"}]\n"},
        Case{Verdict::kSame,
             "mounts: [{location: \"/a/{{.Name}}}}{\"}, {location: \"/a b /c \"}]\n"},
        Case{Verdict::kSame,
             "mounts: [{location: /a, mountPoint: "
             "\"/{{.Name}}/{{.Hostname}}/{{.UID}}/{{.User}}/{{.Home}}\"}]\n"},
        Case{Verdict::kSame,
             "user: {home: \"/h/{{.User}}/{{.UID}}\", uid: 7}\n"
             "mounts: [{location: /a, mountPoint: \"{{.Home}}/m/{{.UID}}\"}]\n"},
        Case{Verdict::kSame,
             "mounts: [{location: /a, writable: True}, {location: /c, writable: null}]\n"},
        Case{Verdict::kSame,
             "mounts: [{location: /a, mountPoint: }, {location: /b, mountPoint: "
             "/m/../n//}]\n"},
        Case{Verdict::kSame,
             "mounts:\n- {location: /a, mountPoint: /m}\n"
             "- {location: /b, mountPoint: /m, writable: true, 9p: {cache: none}}\n"
             "- {location: /c, mountPoint: /m}\n- {location: /d, mountPoint: /m/}\n"},
        Case{Verdict::kSame, "mounts: [{location: /a}, {location: /a/, writable: true}]\n"},
        Case{Verdict::kSame,
             "a: &a {writable: true}\nb: &b {<<: *a}\n"
             "mounts: [{<<: *b, location: /x}, {<<: {location: /y}}]\n"},
        Case{Verdict::kSame, "a: &a [{location: /x}]\nmounts: *a\n"},
        Case{Verdict::kSame, "a: &a {plain: true}\n<<: *a\n"},
        Case{Verdict::kSame, "mounts: [{\"<<\": {writable: true}, location: /x}]\n"},
        Case{Verdict::kSame, "plain: true\nmounts: [{location: relative}]\n"},
        Case{Verdict::kSame, "Plain: true\nmounts: [{location: /a}]\n"},
        Case{Verdict::kSame, "mounts: [{location: /a}]\n---\nplain: true\n"},
        Case{Verdict::kSame, "os: Darwin\n"}, Case{Verdict::kSame, "os: FreeBSD\n"},
        Case{Verdict::kSame, "os: default\nuser: {shell: /bin/fish}\n"}));

INSTANTIATE_TEST_SUITE_P(
    ThreeFiles, ConfigurationParity,
    testing::Values(
        Case{Verdict::kSame, "mounts: [{location: /y}]\n",
             "mounts: [{location: /d, writable: true}, {location: /y}]\n",
             "mounts: [{location: /o}, {location: /y, writable: true},"
             " {location: /z, mountPoint: /d}]\n"},
        Case{Verdict::kSame, "mounts: [{location: /y}]\n", "plain: true\n", ""},
        Case{Verdict::kSame, "plain: true\nmounts: [{location: /y}]\n", "", "plain: false\n"},
        Case{Verdict::kSame, "plain: true\nmounts: [{location: /y}]\n", "# nothing\n", "plain: \n"},
        Case{Verdict::kSame,
             "user: {home: /x, uid: 5}\n"
             "mounts: [{location: /y, mountPoint: \"{{.Home}}/m\"}]\n",
             "user: {shell: /bin/fish, uid: 9}\nos: FreeBSD\n", "user: {home: \"/o/{{.UID}}\"}\n"},
        Case{Verdict::kRefused, "mounts: [{location: /y}]\n", "[[\n", ""},
        Case{Verdict::kRefused, "mounts: [{location: /y}]\n", "", "plain: yes\n"},
        Case{Verdict::kStricter, "mounts: [{location: \"/a/{{.Param.q}}\"}]\n", "param: {q: x}\n",
             ""}));

INSTANTIATE_TEST_SUITE_P(
    Refused, ConfigurationParity,
    testing::Values(
        Case{Verdict::kRefused, "mounts: foo\n"}, Case{Verdict::kRefused, "mounts: {a: b}\n"},
        Case{Verdict::kRefused, "mounts: [null]\n"}, Case{Verdict::kRefused, "mounts: [/tmp]\n"},
        Case{Verdict::kRefused, "mounts: [{mountPoint: /x}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: relative}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: ~root/x}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: \"{{.Nope}}/x\"}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: \"/x\\0\"}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: /a, mountPoint: ~/x}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: /a, writable: yes}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: /a, writable: on}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: /a, writable: \"true\"}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: /a, writable: !!str true}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: /a, 9p: mmap}]\n"},
        Case{Verdict::kRefused, "mounts: [{location: /a, location: /b}]\n"},
        Case{Verdict::kRefused, "plain: true\nplain: false\n"},
        Case{Verdict::kRefused, "a: &a {location: /a}\nmounts: [{<<: *a, location: /b}]\n"},
        Case{Verdict::kRefused, "a: &a {}\nmounts: [{<<: [*a], location: /b}]\n"},
        Case{Verdict::kRefused, "a: &a {}\nmounts: [{<<: *a, <<: *a, location: /b}]\n"},
        Case{Verdict::kRefused, "mounts: [{<<: null, location: /b}]\n"},
        Case{Verdict::kRefused, "mounts: *missing\n"}, Case{Verdict::kRefused, "{{{{\n"},
        Case{Verdict::kRefused, "mounts:\n\t- location: /x\n"},
        Case{Verdict::kRefused, "? [a]\n: b\n"}, Case{Verdict::kRefused, "user: foo\n"},
        Case{Verdict::kRefused, "user: {uid: -1}\n"},
        Case{Verdict::kRefused, "user: {uid: 4294967296}\n"}));

// limactl accepts these, although users hardly mean them.
INSTANTIATE_TEST_SUITE_P(
    Stricter, ConfigurationParity,
    testing::Values(Case{Verdict::kStricter, "mounts: [{location: /a, mountPoint: \"\"}]\n"},
                    Case{Verdict::kStricter, "mounts: [{location: /a, mountPoint: relative}]\n"},
                    Case{Verdict::kStricter, "mounts: [{location: /a, mountPoint: /x/..}]\n"},
                    Case{Verdict::kStricter, "mounts: [{location: \"/a/{{.Param.missing}}\"}]\n"},
                    Case{Verdict::kStricter,
                         "mounts: [{location: /a, mountPoint: \"/{{.Dir}}\"}]\n"},
                    Case{Verdict::kStricter, "mounts: [{location: \"/a{{.Name-}}\"}]\n"},
                    Case{Verdict::kStricter, "mounts: [{location: \"/a{{len .Name}}\"}]\n"},
                    Case{Verdict::kStricter, "mounts: [{location: \"/a{{- .Name}}\"}]\n"},
                    Case{Verdict::kStricter, "mounts: [{location: \"/a{{/* c */}}\"}]\n"},
                    Case{Verdict::kStricter, "user: {uid: 010}\n"},
                    Case{Verdict::kStricter, "plain: !!bool true\n"},
                    Case{Verdict::kStricter, "os: Windows\n"}));

TEST_F(LimaParity, ParametersAreTheSameOrRefused) {
  const auto evaluate = [&] {
    return Show(ListMounts(LoadConfiguration(lima_home(), "vm"), Host(), {}));
  };
  WriteFile(lima_home() / "vm/lima.yaml",
            std::string(kBase) + kParameter + "mounts: [{location: \"/a/{{.Param.p}}\"}]\n");
  EXPECT_EQ(evaluate(), Show(List("vm").at("config")));
  WriteFile(lima_home() / "vm/lima.yaml",
            std::string(kBase) + kParameter + "mounts: [{location: \"/a/{{.Param.decimal}}\"}]\n");
  EXPECT_EQ(List("vm").at("config").at("mounts").at(0).at("location"),
            nlohmann::json("/a/1.5"));  // not 1.50
  EXPECT_THROW(evaluate(), ConfigurationError);
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
