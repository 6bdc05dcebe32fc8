// Mounts that are missing in the guest: nothing is written into the directory beneath.
//
// The instance's sshd runs in a mount namespace of its own, with another boot id and a mount table
// that the test writes. A tmpfs stands for the 9p mount. tests/vm has real mounts.

#include <unistd.h>

#include "integration/fixture.h"

namespace integration {
namespace {

/// Empty if this machine can.
std::string WhyNoMountNamespace() {
  if (::geteuid() != 0) return "mount namespaces need root";
  try {
    const ProcessResult tried =
        RunProcess({.arguments = {"unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"}});
    return tried.exit_code == 0 ? "" : "mounting in a namespace fails: " + tried.error;
  } catch (const std::exception& error) {
    return error.what();  // no unshare: not Linux
  }
}

class MountedRoots : public IntegrationTest {
 protected:
  void SetUp() override {
    const std::string problem = WhyNoMountNamespace();
    if (!problem.empty()) GTEST_SKIP() << Skipping(problem);
    MakeDirectory("other");
    MakeFile("proc/sys/kernel/random/boot_id", "00000000-0000-0000-0000-000000000000\n");
    ShowTable("");
    LoopbackInstance::Options options;
    options.mounts = {{root, "", true}, {other, "", true}};
    options.sshd_wrapper = {"unshare",
                            "--mount",
                            "--propagation",
                            "private",
                            "sh",
                            "-c",
                            "mount --bind \"$0\" /proc && exec \"$@\"",
                            Path("proc").string()};
    instance = &StartInstance(options);
    MountOther();
    Serve();
  }

  void ShowTable(const std::string& lines) {
    MakeFile("proc/self/mountinfo", "30 1 254:0 / / rw - ext4 /dev/vda rw\n" + other_line + lines);
  }

  [[nodiscard]] static std::string Line(const std::string& id, const std::string& directory,
                                        const std::string& options,
                                        const std::string& type = "9p") {
    const ProcessResult hash =
        RunProcess({.arguments = {"sha256sum"}}, directory + ":" + directory);
    return id + " 30 0:44 / " + directory + " rw,relatime - " + type + " lima-" +
           hash.output.substr(0, 16) + " " + options + "\n";
  }

  void InGuest(const std::vector<std::string>& command) const {
    std::vector<std::string> arguments = {
        "nsenter", "--mount=/proc/" + std::to_string(instance->sshd_pid()) + "/ns/mnt"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const ProcessResult result = RunProcess({.arguments = arguments});
    EXPECT_EQ(result.exit_code, 0) << result.error;
  }

  void MountRoot(const std::string& options = "rw,dirsync,mmap,trans=virtio",
                 const std::string& type = "9p") {
    InGuest({"mount", "-t", "tmpfs", "none", root});
    ShowTable(Line("80", root, options, type));
  }
  void UnmountRoot() {
    InGuest({"umount", "--lazy", root});  // a handle that is being closed would make it busy
    ShowTable("");
  }
  void ExpectNarrowedRootWorksOnceMounted() {
    MountRoot();
    InGuest({"mkdir", root + "/sub"});
    Write(root + "/sub/a.txt", "text");
    EXPECT_EQ(Read(root + "/sub/a.txt"), "text");
  }
  void MountOther() {
    InGuest({"mount", "-t", "tmpfs", "none", other});
    other_line = Line("70", other, "rw,mmap");
    ShowTable("");
  }

  void ExpectEveryToolRefuses() {
    for (const auto& [tool, arguments] : CallsOfEveryTool(root, "a.txt")) {
      EXPECT_THAT(Refusal(tool, arguments), AllOf(HasSubstr("it is not mounted in the guest"),
                                                  HasSubstr("limactl start default")))
          << tool;
    }
    EXPECT_TRUE(fs::is_empty(root)) << "written into the directory beneath";
  }

  const std::string other = Path("other").string();
  std::string other_line;
  LoopbackInstance* instance = nullptr;
};

TEST_F(MountedRoots, DoctorNamesMissingMounts) {
  const auto mounted = [this] {
    const json report = json::parse(RunServer({"doctor", "--json"}).output);
    for (const json& check : report.at("checks")) {
      if (check.at("name") == "mounted") return check;
    }
    return json();
  };
  json check = mounted();
  EXPECT_EQ(check.at("result"), "failed");
  EXPECT_THAT(check.at("text"),
              AllOf(HasSubstr(root), HasSubstr("it is not mounted in the guest")));
  EXPECT_TRUE(fs::is_empty(root)) << "written into the directory beneath";
  MountRoot();
  check = mounted();
  EXPECT_EQ(check.at("result"), "passed") << check;
}

TEST_F(MountedRoots, MountThatComesAndGoesWhileConnectedWorksOrIsRefused) {
  ExpectEveryToolRefuses();
  Write(other + "/a.txt", "the other one works");
  EXPECT_EQ(Read(other + "/a.txt"), "the other one works");
  for (const std::string type : {"fuse.sshfs", "9p", "fuse.sshfs"}) {
    MountRoot("rw", type);
    Write(root + "/a.txt", "text");
    EXPECT_EQ(Read(root + "/a.txt"), "text");
    UnmountRoot();
    // Only reverse-sshfs can vanish by itself. For others, the next write notices it.
    if (type == "9p") {
      EXPECT_THAT(WriteRefusal(root + "/lost"), HasSubstr("it is not mounted in the guest"));
    }
    ExpectEveryToolRefuses();
  }
}

TEST_F(MountedRoots, NarrowedRootInAMissingMountIsRefusedUntilItIsThere) {
  Serve({.arguments = {"default", "--root", root + "/sub"}});
  EXPECT_THAT(WriteRefusal(root + "/sub/a.txt"), HasSubstr("it is not mounted in the guest"));
  EXPECT_TRUE(fs::is_empty(root)) << "written into the directory beneath";
  ExpectNarrowedRootWorksOnceMounted();
}

TEST_F(MountedRoots, NarrowedRootIsNotPinnedWhileTheMountTableIsUnreadable) {
  MakeDirectory("root/beneath");
  MakeLink("root/sub", "beneath");
  const fs::path table = Path("proc/self/mountinfo");
  fs::remove(table);
  fs::create_directory(table);  // readable, but not as a file
  Serve({.arguments = {"default", "--root", root + "/sub"}});
  EXPECT_THAT(ReadRefusal(root + "/sub/a.txt"), HasSubstr("cannot be read"));
  fs::remove(table);
  ExpectNarrowedRootWorksOnceMounted();
}

TEST_F(MountedRoots, MountWithAStaleCacheHasANote) {
  MountRoot("ro,dirsync,fscache,trans=virtio");
  Write(root + "/a.txt", "text");
  const json listed = client().CallTool("list_directory", {{"path", root}});
  ASSERT_EQ(listed.at("content").size(), 2U) << listed;
  EXPECT_THAT(listed.at("content").at(1).at("text").get<std::string>(),
              AllOf(HasSubstr("may be out of date"), HasSubstr("9p: {cache: mmap}")));
  EXPECT_EQ(TextOf(client().CallTool("read_file", {{"path", root + "/a.txt"}})),
            R"({"content":"text"})");
}

}  // namespace
}  // namespace integration
