// SPDX-License-Identifier: Apache-2.0
#include "lima/mounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "testing/error_of.h"

namespace lima {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

HostFacts Host() {
  return {"/home/host", "alice", 1000, "/var/tmp/alice"};
}

InstanceConfiguration Configuration(const std::string& main, const std::string& defaults = "",
                                    const std::string& override_text = "") {
  return MergeConfiguration("/lima", "my_vm", defaults, main, override_text);
}

std::vector<Mount> Evaluate(const std::string& main, const std::string& defaults = "",
                            const std::string& override_text = "") {
  return ListMounts(Configuration(main, defaults, override_text), Host());
}

std::string MountErrorOf(const std::string& main) {
  return testing_support::ErrorOf<support::Error>([&main] { return Evaluate(main); });
}

// "LOCATION -> MOUNTPOINT", and "(w)" when writable.
std::vector<std::string> Show(const std::vector<Mount>& mounts) {
  std::vector<std::string> lines;
  for (const Mount& mount : mounts) {
    lines.push_back(mount.location + " -> " + mount.mount_point + (mount.writable ? " (w)" : ""));
  }
  return lines;
}

TEST(Mounts, AreEvaluatedAsLimaDoes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{location: /a}", "/a -> /a"},
      {"{location: /a, writable: true}", "/a -> /a (w)"},
      {"{location: /a/../../b/./c//}", "/b/c -> /b/c"},
      {"{location: \"~\"}", "/home/host -> /home/host"},
      {"{location: \"~/\"}", "/home/host -> /home/host"},
      {"{location: ~/x/../y}", "/home/host/y -> /home/host/y"},
      {"{location: /a/../~}", "/~ -> /~"},
      {"{location: \"{{.Home}}/x\"}", "/home/host/x -> /home/host/x"},
      {"{location: \"{{.Dir}}/x\"}", "/lima/my_vm/x -> /lima/my_vm/x"},
      {"{location: \"/x/{{.Name}}\"}", "/x/my_vm -> /x/my_vm"},
      {"{location: \"/x/{{.UID}}\"}", "/x/1000 -> /x/1000"},
      {"{location: \"/x/{{.User}}\"}", "/x/alice -> /x/alice"},
      {"{location: \"/x/{{.Param.key}}\"}", "/x/value -> /x/value"},
      {"{location: \"/x{{.Param.none}}\"}", "/x -> /x"},
      {"{location: \"{{.GlobalTempDir}}/x\"}", "/tmp/x -> /tmp/x"},
      {"{location: \"{{.TempDir}}/x\"}", "/var/tmp/alice/x -> /var/tmp/alice/x"},
      {"{location: \"{{.LimaHome}}/{{.Instance}}\"}", "/lima/my_vm -> /lima/my_vm"},
      {"{location: \"{{ $.Home }}/x\"}", "/home/host/x -> /home/host/x"},
      {"{location: \"~/{{.Name}}\"}", "/home/host/my_vm -> /home/host/my_vm"},
      {"{location: \"/a b \"}", "/a b  -> /a b "},
      {"{location: /a, mountPoint: /m}", "/a -> /m"},
      {"{location: /a, mountPoint: null}", "/a -> /a"},
      {"{location: /a, mountPoint: /m/../n//}", "/a -> /n"}};
  for (const auto& [mount, result] : cases) {
    const std::string text = "param: {key: value, none: }\nmounts: [" + mount + "]\n";
    EXPECT_THAT(Show(Evaluate(text)), ElementsAre(result)) << mount;
  }
}

TEST(Mounts, InvalidOnesAreErrorsThatNameFileAndEntry) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{location: relative}", "location: \"relative\" is not an absolute path"},
      {"{location: .}", "not an absolute path"},
      {"{location: \"\"}", "not an absolute path"},
      {"{location: null}", "not an absolute path"},
      {"{mountPoint: /m}", "not an absolute path"},
      {"null", "not an absolute path"},
      {"{location: 12}", "not an absolute path"},
      {"{location: ~root/x}", "only ~ and ~/ are expanded"},
      {"{location: \"~{{.Name}}\"}", "only ~ and ~/ are expanded"},
      {"{location: \"/x/{{.Nope}}\"}", "{{.Nope}}, which does not exist"},
      {"{location: \"/x/{{.Hostname}}\"}", "{{.Hostname}}, which does not exist"},
      {"{location: \"/x/{{.Param.missing}}\"}", "no such param"},
      {"{location: \"/x/{{.Param}}\"}", "does not exist"},
      {"{location: \"/x/{{.Param.decimal}}\"}", "put it in quotes"},
      {"{location: \"/x/{{.Home\"}", "not supported"},
      {"{location: \"/x/{{len .Home}}\"}", "not supported"},
      {"{location: \"/x\\0\"}", "NUL"},
      {"{location: /, mountPoint: null}", "whole file system"},
      {"{location: /a, mountPoint: \"\"}", "mountPoint: \"\" is not an absolute path"},
      {"{location: /a, mountPoint: relative}", "not an absolute path"},
      {"{location: /a, mountPoint: ~/x}", "not an absolute path"},
      {"{location: /a, mountPoint: /x/..}", "whole file system"},
      {"{location: /a, mountPoint: \"/x\\0\"}", "NUL"},
      {"{location: /a, mountPoint: \"/m/{{.Name}}\"}", "has a template; write the path itself"},
      {"{location: /a, mountPoint: \"{{.Home}}/m\"}", "has a template"},
      {"{location: /a, mountPoint: \"/m/{{\"}", "has a template"}};
  for (const auto& [mount, reason] : cases) {
    const std::string text =
        "param: {decimal: 1.50}\nmounts:\n- {location: /first}\n- " + mount + "\n";
    EXPECT_THAT(MountErrorOf(text),
                AllOf(HasSubstr("lima.yaml: mounts[1] (line 4)"), HasSubstr(reason)))
        << mount;
  }
}

TEST(Mounts, EntriesOfOneMountPointMergeIntoTheFirstInTheOrderOfTheFiles) {
  EXPECT_THAT(Show(Evaluate("mounts:\n"
                            "- {location: /a, mountPoint: /m}\n"
                            "- {location: /x}\n"
                            "- {location: /b, mountPoint: /m, writable: true}\n"
                            "- {location: /c, mountPoint: /m}\n"
                            "- {location: /x/, writable: true}\n")),
              ElementsAre("/a -> /m (w)", "/x -> /x (w)"));
  EXPECT_THAT(Show(Evaluate("mounts: [{location: /y}, {location: /f, writable: true}]\n",
                            "mounts: [{location: /d, writable: true}, {location: /y}]\n",
                            "mounts: [{location: /o}, {location: /y, writable: true},"
                            " {location: /z, mountPoint: /d}, {location: /f, writable: false}]\n")),
              ElementsAre("/d -> /d (w)", "/y -> /y (w)", "/f -> /f", "/o -> /o"));
  const auto unclean =
      Evaluate("mounts: [{location: /a, mountPoint: /m}, {location: /b, mountPoint: /m/}]\n");
  EXPECT_THAT(Show(unclean), ElementsAre("/a -> /m", "/b -> /m"));
  EXPECT_EQ(unclean.at(1).unclean_mount_point, "/m/");
}

TEST(Mounts, NinePCacheIsTheConfiguredOneElseLimasDefault) {
  const std::vector<Mount> mounts = Evaluate(
      "mounts:\n- {location: /a}\n- {location: /b, writable: true}\n"
      "- {location: /c, 9p: {cache: none}}\n- {location: /a, 9p: {cache: mmap}}\n");
  ASSERT_EQ(mounts.size(), 3U);
  EXPECT_EQ(mounts[0].nine_p_cache, "mmap");
  EXPECT_EQ(mounts[1].nine_p_cache, "mmap");
  EXPECT_EQ(mounts[2].nine_p_cache, "none");
  EXPECT_EQ(Evaluate("mounts: [{location: /a}]\n").at(0).nine_p_cache, "fscache");
}

TEST(Mounts, ReadsMayBeStaleIfTheyMayBe9pWithACacheThatIsNeverRefreshed) {
  HostFacts mac = Host();
  mac.arch = "aarch64";
  mac.vm_type = "vz";
  const std::string mount = "mounts: [{location: /a}]\n";
  struct Row {
    std::string text;
    bool on_linux;
    bool on_mac;
  };
  for (const auto& [text, on_linux, on_mac] : {
           Row{mount, true, false},
           Row{"mountType: 9p\n" + mount, true, true},
           Row{"mountType: virtiofs\n" + mount, false, false},
           Row{"vmType: vz\n" + mount, false, false},
           Row{"vmType: qemu\n" + mount, true, true},
           Row{"arch: x86_64\n" + mount, true, true},  // on the Mac an emulated guest: QEMU's
           Row{"arch: aarch64\n" + mount, true, false},
           Row{"mounts: [{location: /a, writable: true}]\n", false, false},
           Row{"mounts: [{location: /a, 9p: {cache: mmap}}]\n", false, false},
           Row{"mounts: [{location: /a, writable: true, 9p: {cache: loose}}]\n", true, false},
           // As in Debian's and RHEL's templates: QEMU then takes reverse-sshfs.
           Row{"mountTypesUnsupported: [9p]\n" + mount, false, false},
           Row{"mountTypesUnsupported: [virtiofs, \"9p\"]\n" + mount, false, false},
           Row{"mountTypesUnsupported: [virtiofs]\n" + mount, true, false},
           Row{"mountTypesUnsupported: null\n" + mount, true, false},
       }) {
    const auto stale = [&](const HostFacts& host) {
      return ListMounts(Configuration(text), host).at(0).reads_may_be_stale;
    };
    EXPECT_EQ(stale(Host()), on_linux) << text;
    EXPECT_EQ(stale(mac), on_mac) << text;
  }
  const std::string no_9p = "mountTypesUnsupported: [9p]\n";
  EXPECT_FALSE(Evaluate(mount, no_9p).at(0).reads_may_be_stale);
  EXPECT_FALSE(Evaluate(mount, "", no_9p).at(0).reads_may_be_stale);
}

TEST(Mounts, TypeAndWhetherReadOnlyHoldsDependOnTheDriver) {
  const auto show = [](const std::string& main) {
    const Mount mount = Evaluate(main + "mounts: [{location: /a}]\n").at(0);
    return mount.type + (mount.enforces_read_only ? " holds" : "");
  };
  EXPECT_EQ(show(""), "9p holds");
  EXPECT_EQ(show("mountTypesUnsupported: [9p]\n"), "reverse-sshfs");
  EXPECT_EQ(show("mountType: reverse-sshfs\n"), "reverse-sshfs");
  EXPECT_EQ(show("mountType: virtiofs\n"), "virtiofs");
  EXPECT_EQ(show("vmType: krunkit\n"), "virtiofs");
  EXPECT_EQ(show("vmType: vz\n"), "virtiofs holds");
  EXPECT_EQ(show("vmType: external\n"), "");
}

// printf '%s' /Users/me:/Users/me | sha256sum
TEST(MountTag, IsTheBeginningOfTheHashOfBothPaths) {
  const auto tag = [](const std::string& location, const std::string& mount_point) {
    Mount mount;
    mount.location = location;
    mount.unclean_mount_point = mount_point;
    return MountTag(mount);
  };
  EXPECT_EQ(tag("/Users/me", "/Users/me"), "lima-2ef1b209a83bda15");
  EXPECT_EQ(tag("/home/me/a b", "/mnt/ä"), "lima-51584bcfaf9163c2");
  EXPECT_NE(tag("/a", "/b/"), tag("/a", "/b")) << "the mountPoint is not cleaned";
}

std::string Filled(std::string_view text) {
  return EvaluateTemplate(text, [](std::string_view name) -> std::string {
    if (name == "Home") return "/home/u";
    if (name == "Param.key_1") return "value";
    throw support::Error("no such field: " + std::string(name));
  });
}

TEST(Template, GivesWhatGoWouldGive) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", ""},
      {"/plain/path", "/plain/path"},
      {"{{.Home}}/x", "/home/u/x"},
      {"{{ .Home }}", "/home/u"},
      {"{{\t.Home\n}}", "/home/u"},
      {"{{$.Home}}", "/home/u"},
      {"/a/{{.Param.key_1}}/{{.Home}}", "/a/value//home/u"},
      {"/a/{{.Home}}}", "/a//home/u}"},
      {"/a}}/{b", "/a}}/{b"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(Filled(text), result) << text;
  const std::string spaces(100'000, ' ');
  EXPECT_EQ(Filled("{{" + spaces + ".Home}}" + spaces), "/home/u" + spaces);
}

TEST(Template, RefusesAllElse) {
  for (const char* text :
       {"{{.Home",     "{{",           "{{}}",           "{{.}}",       "{{$}}",
        "{{- -}}",     "{{- .Home}}",  "{{.Home -}}",    "{{-.Home}}",  "{{-x.Home}}",
        "{{.Homex-}}", "{{.Home-}}",   "{{Home}}",       "{{(.Home)}}", "{{\"text\"}}",
        "{{.Home.}}",  "{{..Home}}",   "{{.Param.a-b}}", "{{.1}}",      "{{.Ho me}}",
        "{{.Nope}}",   "{{/* open }}", "{{{.Home}}",     "{{\f.Home}}"}) {
    EXPECT_THROW(Filled(text), support::Error) << text;
  }
  for (const char* text : {"{{/* comment */}}", "{{ /* late comment */}}", "{{.Param.missing}}",
                           "{{.Home | printf \"%s\"}}", "{{if .Home}}a{{end}}"}) {
    EXPECT_THROW(Filled(text), support::Error) << text;
  }
}

}  // namespace
}  // namespace lima
