#include "commands/settings_store.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#ifdef __linux__
#include <sys/mount.h>
#endif

#include "support/errors.h"
#include "testing/private_mounts.h"
#include "testing/temporary_directory.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uid_t kNobody = 65534;

/// As long as it lives, no file of this process's grows beyond so many bytes.
class SmallFilesOnly {
 public:
  explicit SmallFilesOnly(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFilesOnly() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  SmallFilesOnly(const SmallFilesOnly&) = delete;
  SmallFilesOnly& operator=(const SmallFilesOnly&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

class StoredSettingsTest : public ::testing::Test {
 protected:
  [[nodiscard]] StoredSettings Stored(const fs::path& path) const {
    return {path, directory_.path(), 0600};
  }
  static void Write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string Read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string ErrorOf(const std::function<void()>& work) {
    try {
      work();
    } catch (const support::CallError& error) {
      return error.what();
    }
    return "no error";
  }

  void ExpectAlone(const std::string& text) const {
    EXPECT_EQ(Read(file_), text);
    EXPECT_EQ(std::distance(fs::directory_iterator(top_), {}), 1) << "something was left behind";
  }

  testing_support::TemporaryDirectory directory_;
  const fs::path top_ = directory_.path();
  const fs::path file_ = top_ / "settings.json";
};

TEST_F(StoredSettingsTest, WhatOthersHaveWrittenSinceItWasReadIsNotReplaced) {
  Write(file_, "old");
  const StoredSettings stored = Stored(file_);
  EXPECT_EQ(stored.text(), "old");
  Write(file_, "theirs");
  const std::vector<std::optional<std::string>> texts = {"ours", std::nullopt};
  for (const std::optional<std::string>& text : texts) {
    EXPECT_THAT(ErrorOf([&] { stored.Replace(text, top_); }),
                AllOf(HasSubstr(file_.string()), HasSubstr("changed by another program")));
    EXPECT_EQ(Read(file_), "theirs");
  }
}

TEST_F(StoredSettingsTest, AFileThatOthersHaveMadeSinceIsNotReplaced) {
  const StoredSettings stored = Stored(file_);
  EXPECT_EQ(stored.text(), std::nullopt);
  Write(file_, "theirs");
  EXPECT_THAT(ErrorOf([&] { stored.Replace("ours", top_); }),
              HasSubstr("changed by another program"));
  EXPECT_EQ(Read(file_), "theirs");
}

TEST_F(StoredSettingsTest, WhatOthersHaveWrittenSinceItWasReplacedIsNotUndone) {
  Write(file_, "old");
  const StoredSettings stored = Stored(file_);
  stored.Replace("ours", top_);
  EXPECT_EQ(Read(file_), "ours");
  Write(file_, "theirs");
  EXPECT_THAT(ErrorOf([&] { stored.Restore("ours", top_); }),
              AllOf(HasSubstr(file_.string()), HasSubstr("no longer what configure has written")));
  EXPECT_EQ(Read(file_), "theirs");
}

/// A project that is mounted writable in a guest, which turns a directory into a link to one of the
/// host's own, with the same file in it, once configure has looked.
class StoredSettingsInAProject : public StoredSettingsTest {
 protected:
  StoredSettingsInAProject() {
    fs::create_directories(project_ / "settings");
    fs::create_directories(own_);
    Write(own_ / "config", "text");
  }
  [[nodiscard]] StoredSettings Stored() const {
    return {project_ / "settings/config", project_, 0600};
  }
  void LeadOut() const {
    fs::remove_all(project_ / "settings");
    fs::create_directory_symlink(own_, project_ / "settings");
  }
  void ExpectOwnFileIsUntouched() const {
    EXPECT_EQ(Read(own_ / "config"), "text");
    EXPECT_EQ(std::distance(fs::directory_iterator(own_), {}), 1);
  }

  const fs::path project_ = top_ / "project";
  const fs::path own_ = top_ / "own";
};

TEST_F(StoredSettingsInAProject, AreNotWrittenThroughALinkThatHasAppeared) {
  Write(project_ / "settings/config", "text");
  const StoredSettings stored = Stored();
  LeadOut();
  EXPECT_THAT(ErrorOf([&] { stored.Replace("ours", project_); }),
              HasSubstr((project_ / "settings").string()));
  EXPECT_THAT(ErrorOf([&] { stored.Replace(std::nullopt, project_); }),
              HasSubstr((project_ / "settings").string()));
  ExpectOwnFileIsUntouched();
}

TEST_F(StoredSettingsInAProject, AreNotMadeThroughALinkThatHasAppeared) {
  const StoredSettings stored = Stored();
  LeadOut();
  EXPECT_THAT(ErrorOf([&] { stored.Replace("ours", project_); }),
              HasSubstr((project_ / "settings").string()));
  ExpectOwnFileIsUntouched();
}

TEST_F(StoredSettingsInAProject, AreNotUndoneThroughALinkThatHasAppeared) {
  const StoredSettings stored = Stored();
  stored.Replace("text", project_);
  LeadOut();
  EXPECT_THAT(ErrorOf([&] { stored.Restore("text", project_); }),
              HasSubstr((project_ / "settings").string()));
  ExpectOwnFileIsUntouched();
}

TEST_F(StoredSettingsInAProject, MakeAndRemoveWhatIsMissingOnTheWay) {
  const StoredSettings stored(project_ / "a/b/config", project_, 0600);
  stored.Replace("ours", project_);
  EXPECT_EQ(Read(project_ / "a/b/config"), "ours");
  stored.Restore("ours", project_);
  EXPECT_FALSE(fs::exists(project_ / "a"));
}

TEST_F(StoredSettingsInAProject, ADirectoryThatALinkLeadsToStaysWhenItIsEmptied) {
  fs::create_directories(project_ / "kept/by");
  fs::create_directory_symlink("kept/by", project_ / "link");
  const StoredSettings stored(project_ / "link/config", project_, 0600);
  stored.Replace("ours", project_);
  EXPECT_EQ(Read(project_ / "kept/by/config"), "ours");
  stored.Restore("ours", project_);
  EXPECT_TRUE(fs::is_empty(project_ / "link")) << "and is still a directory";
}

TEST_F(StoredSettingsInAProject, WhatIsEmptiedIsRemovedThoughALinkLeadsToTheProject) {
  fs::create_directory_symlink("project", top_ / "link");
  for (const auto& project : {std::optional(top_ / "link"), std::optional<fs::path>()}) {
    const StoredSettings stored(top_ / "link/a/b/config", project, 0600);
    stored.Replace("ours", top_ / "link");
    stored.Restore("ours", top_ / "link");
    EXPECT_FALSE(fs::exists(project_ / "a"));
    EXPECT_TRUE(fs::exists(project_));
  }
}

TEST_F(StoredSettingsTest, LargerFilesAreRefused) {
  Write(file_, "");
  fs::resize_file(file_, kMaximumSettingsBytes);
  EXPECT_EQ(ErrorOf([&] { (void)Stored(file_); }), "no error");
  fs::resize_file(file_, kMaximumSettingsBytes + 1);
  EXPECT_THAT(ErrorOf([&] { (void)Stored(file_); }),
              AllOf(HasSubstr(file_.string()), HasSubstr("larger than")));
}

TEST_F(StoredSettingsTest, ADirectoryThatCannotBeMadeIsNamed) {
  fs::create_directory_symlink("nothing", top_ / "link");
  const StoredSettings stored(top_ / "link/settings.json", std::nullopt, 0600);
  EXPECT_THAT(ErrorOf([&] { stored.Replace("ours", top_); }),
              AllOf(HasSubstr("cannot make"), HasSubstr((top_ / "link").string())));
  EXPECT_FALSE(fs::exists(top_ / "nothing"));
}

TEST_F(StoredSettingsTest, ADirectoryOfAProjectThatIsALinkToNothingIsNamed) {
  fs::create_directory_symlink("nothing", top_ / "link");
  EXPECT_THAT(ErrorOf([&] { (void)Stored(top_ / "link/settings.json"); }),
              AllOf(HasSubstr("cannot open"), HasSubstr((top_ / "link").string())));
}

TEST_F(StoredSettingsTest, AProjectThatIsGoneIsNamed) {
  const fs::path gone = top_ / "gone";
  EXPECT_THAT(ErrorOf([&] { (void)StoredSettings(file_, gone, 0600); }),
              AllOf(HasSubstr("cannot resolve the links of"), HasSubstr(gone.string())));
}

TEST_F(StoredSettingsTest, AFileThatMayNotGrowIsNamedAndStaysAsItWas) {
  Write(file_, "old");
  const StoredSettings stored = Stored(file_);
  std::string error;
  {
    const SmallFilesOnly small(3);
    error = ErrorOf([&] { stored.Replace("longer", top_); });
  }
  EXPECT_THAT(error, AllOf(HasSubstr("cannot write " + file_.string()), HasSubstr("too large")));
  ExpectAlone("old");
}

#ifdef __linux__

TEST_F(StoredSettingsTest, ADirectoryOfAProjectThatCannotBeMadeIsNamed) {
  // Permissions do not stop root; the kernel's own file systems do.
  const fs::path directory = "/sys/limactl-mcp-test";
  const StoredSettings stored(directory / "settings.json", "/sys", 0600);
  EXPECT_THAT(
      ErrorOf([&] { stored.Replace("ours", "/sys"); }),
      AllOf(HasSubstr("cannot make " + directory.string() + ": "), Not(HasSubstr("No such file"))))
      << "why it cannot be made, not that it is missing";
}

TEST_F(StoredSettingsTest, AFileThatIsAMountPointIsNamedAndStaysAsItWas) {
  if (const std::string problem = testing_support::EnterPrivateMounts(); !problem.empty()) {
    GTEST_SKIP() << problem;
  }
  Write(file_, "old");
  ASSERT_EQ(::mount(file_.c_str(), file_.c_str(), nullptr, MS_BIND, nullptr), 0);
  const std::string error = ErrorOf([&] { Stored(file_).Replace("ours", top_); });
  ASSERT_EQ(::umount2(file_.c_str(), MNT_DETACH), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("cannot write " + file_.string()), HasSubstr("busy")));
  ExpectAlone("old");
}

#endif

TEST_F(StoredSettingsTest, TheOwnerAndTheModeStay) {
  Write(file_, "old");
  fs::permissions(file_, fs::perms(0640));
  // Only root can give files away.
  ASSERT_TRUE(::getuid() != 0 || ::chown(file_.c_str(), kNobody, kNobody) == 0);
  struct stat before {};
  ASSERT_EQ(::stat(file_.c_str(), &before), 0);
  Stored(file_).Replace("ours", top_);
  struct stat after {};
  ASSERT_EQ(::stat(file_.c_str(), &after), 0);
  EXPECT_EQ(Read(file_), "ours");
  EXPECT_NE(after.st_ino, before.st_ino) << "it was to be another file";
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_gid, before.st_gid);
  EXPECT_EQ(after.st_mode, before.st_mode);
}

TEST_F(StoredSettingsTest, AFileWhoseOwnerCannotBeKeptStaysAsItWas) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can give files away";
  Write(file_, "old");
  fs::permissions(file_, fs::perms(0644));
  ASSERT_EQ(::chown(top_.c_str(), kNobody, kNobody), 0);
  const StoredSettings stored = Stored(file_);
  ASSERT_EQ(::seteuid(kNobody), 0);
  const std::string error = ErrorOf([&] { stored.Replace("ours", top_); });
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(error, HasSubstr("cannot keep the owner of " + file_.string()));
  ExpectAlone("old");
}

}  // namespace
}  // namespace commands
