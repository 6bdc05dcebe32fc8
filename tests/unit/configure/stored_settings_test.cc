#include "configure/stored_settings.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/errors.h"
#include "testing/temporary_directory.h"

namespace configure {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uid_t kNobody = 65534;

class StoredSettingsTest : public ::testing::Test {
 protected:
  [[nodiscard]] StoredSettings Stored(const fs::path& path) const {
    return {path, directory_.path()};
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

TEST_F(StoredSettingsTest, DoesNotReplaceAFileThatHasChanged) {
  for (const char* before : {"old", ""}) {
    if (*before != '\0') Write(file_, before);
    const StoredSettings stored = Stored(file_);
    Write(file_, "theirs");
    EXPECT_THAT(ErrorOf([&] { stored.Write("ours"); }),
                AllOf(HasSubstr(file_.string()), HasSubstr("changed by another program")));
    ExpectAlone("theirs");
    fs::remove(file_);
  }
}

/// The guest replaces a directory of the project by a link to one of the host, after configure has
/// read the file.
class StoredSettingsInAProject : public StoredSettingsTest {
 protected:
  StoredSettingsInAProject() {
    fs::create_directories(project_ / "settings");
    fs::create_directories(own_);
    Write(own_ / "config", "text");
  }
  [[nodiscard]] StoredSettings Stored() const { return {project_ / "settings/config", project_}; }
  void LeadOut() const {
    fs::remove_all(project_ / "settings");
    fs::create_directory_symlink(own_, project_ / "settings");
  }
  const fs::path project_ = top_ / "project";
  const fs::path own_ = top_ / "own";
};

TEST_F(StoredSettingsInAProject, AreNotWrittenThroughALinkThatHasAppeared) {
  for (const bool exists : {true, false}) {
    fs::remove_all(project_ / "settings");
    fs::create_directories(project_ / "settings");
    if (exists) Write(project_ / "settings/config", "text");
    const StoredSettings stored = Stored();
    LeadOut();
    for (const std::string& error :
         {ErrorOf([&] { stored.Write("ours"); }), ErrorOf([&] { stored.Remove(); })}) {
      EXPECT_THAT(error, HasSubstr((project_ / "settings").string()));
    }
    EXPECT_EQ(Read(own_ / "config"), "text");
    EXPECT_EQ(std::distance(fs::directory_iterator(own_), {}), 1);
  }
}

TEST_F(StoredSettingsInAProject, MakeAndRemoveDirectories) {
  fs::create_directory_symlink("project", top_ / "link");
  for (const fs::path& project : {project_, top_ / "link"}) {
    const fs::path file = project / "a/b/config";
    StoredSettings(file, project).Write("ours");
    EXPECT_EQ(Read(file), "ours");
    StoredSettings(file, project).Remove();
    EXPECT_FALSE(fs::exists(project_ / "a"));
    EXPECT_TRUE(fs::exists(project_));
  }
}

TEST_F(StoredSettingsInAProject, AreNotReadThroughLinks) {
  fs::create_directory_symlink(own_, project_ / "link");
  fs::create_symlink(own_ / "config", project_ / "config");
  fs::create_symlink("settings", project_ / "inside");
  for (const char* name : {"link/config", "config", "inside/config"}) {
    EXPECT_THAT(ErrorOf([&] { (void)StoredSettings(project_ / name, project_); }),
                AllOf(HasSubstr(project_.string()), HasSubstr("it is a link in a project")));
  }
}

TEST_F(StoredSettingsTest, RefusesLargerFiles) {
  Write(file_, "");
  fs::resize_file(file_, kMaxSettingsBytes);
  EXPECT_EQ(ErrorOf([&] { (void)Stored(file_); }), "no error");
  fs::resize_file(file_, kMaxSettingsBytes + 1);
  EXPECT_THAT(ErrorOf([&] { (void)Stored(file_); }),
              AllOf(HasSubstr(file_.string()), HasSubstr("larger than")));
}

TEST_F(StoredSettingsTest, ReportsLinksToNothing) {
  fs::create_directory_symlink("nothing", top_ / "link");
  const StoredSettings stored(top_ / "link/settings.json", std::nullopt);
  EXPECT_THAT(ErrorOf([&] { stored.Write("ours"); }),
              AllOf(HasSubstr("cannot make"), HasSubstr((top_ / "link").string())));
  EXPECT_THAT(ErrorOf([&] { (void)Stored(top_ / "link/settings.json"); }),
              AllOf(HasSubstr("cannot open"), HasSubstr((top_ / "link").string())));
  EXPECT_FALSE(fs::exists(top_ / "nothing"));
}

TEST_F(StoredSettingsTest, KeepsOwnerAndMode) {
  Write(file_, "old");
  fs::permissions(file_, fs::perms(0640));
  // Only root can give files away.
  ASSERT_TRUE(::getuid() != 0 || ::chown(file_.c_str(), kNobody, kNobody) == 0);
  struct stat before {};
  ASSERT_EQ(::stat(file_.c_str(), &before), 0);
  Stored(file_).Write("ours");
  struct stat after {};
  ASSERT_EQ(::stat(file_.c_str(), &after), 0);
  EXPECT_EQ(Read(file_), "ours");
  EXPECT_NE(after.st_ino, before.st_ino);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_gid, before.st_gid);
  EXPECT_EQ(after.st_mode, before.st_mode);
}

TEST_F(StoredSettingsTest, LeavesAFileWhoseOwnerItCannotKeep) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can give files away";
  Write(file_, "old");
  fs::permissions(file_, fs::perms(0644));
  ASSERT_EQ(::chown(top_.c_str(), kNobody, kNobody), 0);
  const StoredSettings stored = Stored(file_);
  ASSERT_EQ(::seteuid(kNobody), 0);
  const std::string error = ErrorOf([&] { stored.Write("ours"); });
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(error, HasSubstr("cannot keep the owner of " + file_.string()));
  ExpectAlone("old");
}

}  // namespace
}  // namespace configure
