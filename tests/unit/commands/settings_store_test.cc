#include "commands/settings_store.h"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "support/errors.h"
#include "testing/temporary_directory.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace commands
