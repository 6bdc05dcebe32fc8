#include "connection/path_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "support/errors.h"
#include "support/printable.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace connection {
namespace {

using ::testing::HasSubstr;
using testing_support::Operation;

/// Says what it is told to.
class LyingGuest final : public testing_support::LocalGuest {
 public:
  std::string ReadLink(const std::string& /*path*/, const support::Context& /*context*/) override {
    return answer;
  }
  std::string RealPath(const std::string& /*path*/, const support::Context& /*context*/) override {
    return answer;
  }
  guest::RealFile FindRealFile(const std::string& /*path*/,
                               const support::Context& /*context*/) override {
    return {answer, std::nullopt};
  }

  std::string answer;
};

class PathQuestionsToALiar : public ::testing::Test {
 protected:
  std::shared_ptr<LyingGuest> liar_ = std::make_shared<LyingGuest>();
  PathQuestions questions_{liar_};
};

TEST_F(PathQuestionsToALiar, RealPathsThatAreNoneAreRefused) {
  for (const std::string& answer :
       {std::string(), std::string("relative"), std::string("/mnt/w/../../etc"),
        std::string("/mnt/w/./a"), std::string("/mnt//w"), std::string("/mnt/w/"),
        std::string("/mnt/w/a\0b", 10)}) {
    liar_->answer = answer;
    EXPECT_THROW(questions_.RealPath("/mnt/w", {}), guest::FileError) << support::Printable(answer);
    EXPECT_THROW(questions_.FindRealFile("/mnt/w", {}), guest::FileError)
        << support::Printable(answer);
    EXPECT_THROW(questions_.FindAndList("/mnt/w", {}), guest::FileError)
        << support::Printable(answer);
    EXPECT_THROW(questions_.FindAndRead("/mnt/w", 100, {}), guest::FileError)
        << support::Printable(answer);
  }
  liar_->answer = "/mnt/w/a\nb\xff";
  EXPECT_EQ(questions_.RealPath("/mnt/w", {}), liar_->answer);
  EXPECT_EQ(questions_.FindRealFile("/mnt/w", {}).path, liar_->answer);
}

TEST_F(PathQuestionsToALiar, LinksWithoutATargetOrWithANulAreRefused) {
  for (const std::string& answer : {std::string(), std::string("a\0b", 3)}) {
    liar_->answer = answer;
    EXPECT_THROW(questions_.ReadLink("/mnt/w", {}), guest::FileError) << support::Printable(answer);
  }
  liar_->answer = "../a";
  EXPECT_EQ(questions_.ReadLink("/mnt/w", {}), "../a");
}

TEST_F(PathQuestionsToALiar, PathsThatAreTooLongToBeUsedAreRefusedByTheirLength) {
  liar_->answer = "/" + std::string(kLongestPath - 1, 'a');
  EXPECT_EQ(questions_.RealPath("/mnt/w", {}), liar_->answer);
  EXPECT_EQ(questions_.FindRealFile("/mnt/w", {}).path, liar_->answer);
  EXPECT_EQ(questions_.ReadLink("/mnt/w", {}), liar_->answer);
  liar_->answer += "a";
  EXPECT_THROW(questions_.FindRealFile("/mnt/w", {}), guest::FileError);
  EXPECT_THROW(questions_.ReadLink("/mnt/w", {}), guest::FileError);
  try {
    questions_.RealPath("/mnt/w", {});
    FAIL();
  } catch (const guest::FileError& error) {
    EXPECT_NE(error.detail().find("a path of 4096 bytes"), std::string::npos) << error.what();
  }
}

/// A guest without an SFTP server. In its scripts, `command` is another one.
class GuestWithoutServer final : public testing_support::LocalGuest {
 public:
  GuestWithoutServer() {
    set_hook([](Operation operation, const std::string&) {
      if (operation != Operation::kRun) throw guest::NoFileServer("there is no SFTP");
    });
  }

  guest::CommandResult Run(const guest::Command& given, guest::OutputSink& sink,
                           const support::Context& context) override {
    guest::Command changed = given;
    const std::size_t at =
        command.empty() ? std::string::npos : changed.standard_input.find(command);
    if (at != std::string::npos) changed.standard_input.replace(at, command.size(), other);
    return LocalGuest::Run(changed, sink, context);
  }

  std::string command;
  std::string other = "no-such-command-anywhere";
};

class PathQuestionsWithoutServer : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef __linux__
    GTEST_SKIP() << "this machine's stat(1) is neither GNU's nor BusyBox's";
#endif
    std::ofstream(File()) << "text";
    std::filesystem::create_symlink("it's a file", Link());
  }

  [[nodiscard]] std::string File() const {
    return (directory_.path() / "it's a file").string();
  }
  [[nodiscard]] std::string Link() const {
    return (directory_.path() / "link").string();
  }

  testing_support::TemporaryDirectory directory_;
  testing_support::LocalGuest served_;
  std::shared_ptr<GuestWithoutServer> guest_ = std::make_shared<GuestWithoutServer>();
  PathQuestions questions_{guest_};
};

TEST_F(PathQuestionsWithoutServer, AreAnsweredByTheShellAsAServerWould) {
  EXPECT_EQ(questions_.RealPath(Link(), {}), served_.RealPath(Link(), {}));
  EXPECT_TRUE(questions_.Stat(Link(), {}) == served_.Stat(Link(), {}));
  EXPECT_TRUE(questions_.LStat(Link(), {}) == served_.LStat(Link(), {}));
  EXPECT_EQ(questions_.ReadLink(Link(), {}), "it's a file");
  const guest::RealFile found = questions_.FindRealFile(Link(), {});
  EXPECT_EQ(found.path, served_.RealPath(File(), {}));
  EXPECT_TRUE(found.attributes == served_.Stat(File(), {}));
  EXPECT_EQ(guest_->count(Operation::kRealPath), 1) << "that there is no server is remembered";
  EXPECT_EQ(guest_->count(Operation::kStat), 0);
}

TEST_F(PathQuestionsWithoutServer, WhatIsNotThereIsNotFound) {
  try {
    questions_.Stat(File() + "/below", {});
    FAIL();
  } catch (const guest::FileError& error) {
    EXPECT_EQ(error.code(), guest::FileErrorCode::kNotFound);
  }
}

TEST_F(PathQuestionsWithoutServer, EachKindOfFileIsKnownByItsMode) {
  const std::map<std::string, guest::FileType> kinds = {
      {"11a4", guest::FileType::kFifo},      {"21b6", guest::FileType::kCharacterDevice},
      {"41ed", guest::FileType::kDirectory}, {"61b0", guest::FileType::kBlockDevice},
      {"81a4", guest::FileType::kRegular},   {"a1ff", guest::FileType::kSymlink},
      {"c1ed", guest::FileType::kSocket},    {"f1ff", guest::FileType::kUnknown}};
  guest_->command = "stat -L -c";
  for (const auto& [mode, type] : kinds) {
    guest_->other = "echo " + mode + " 1 2 3 4 #";
    EXPECT_EQ(questions_.Stat(File(), {}).type, type) << mode;
  }
}

TEST_F(PathQuestionsWithoutServer, AnAnswerThatMakesNoSenseIsShown) {
  guest_->command = "stat -L -c";
  guest_->other = "echo";
  try {
    questions_.Stat(File(), {});
    FAIL();
  } catch (const guest::FileError& error) {
    EXPECT_EQ(error.code(), guest::FileErrorCode::kFailure);
    EXPECT_THAT(error.detail(), HasSubstr("stat says \"%f %s"));
  }
}

TEST_F(PathQuestionsWithoutServer, AMissingCommandIsNamed) {
  EXPECT_NO_THROW(questions_.RealPath(File(), {}));
  guest_->command = "stat";
  try {
    questions_.Stat(File(), {});
    FAIL();
  } catch (const support::CallError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the commands readlink and stat: install"));
  }
}

TEST_F(PathQuestionsWithoutServer, WhyThereIsNoServerSaysMoreThanAMissingCommand) {
  guest_->command = "readlink";
  try {
    questions_.RealPath(File(), {});
    FAIL();
  } catch (const guest::NoFileServer& missing) {
    EXPECT_STREQ(missing.what(), "there is no SFTP");
  }
}

TEST_F(PathQuestionsWithoutServer, ALineThatIsLostOrACallThatIsStoppedIsNotTakenForAMissingServer) {
  const auto run = [this](const std::function<void()>& what) {
    guest_->set_hook([what](Operation operation, const std::string&) {
      if (operation != Operation::kRun) throw guest::NoFileServer("there is no SFTP");
      what();
    });
  };
  run([] { throw support::ConnectionLost("the line broke", false); });
  EXPECT_THROW(questions_.RealPath(File(), {}), support::ConnectionLost);
  run([] { throw support::Stopped(support::StopReason::kDeadline); });
  EXPECT_THROW(questions_.RealPath(File(), {}), support::Stopped);
}

}  // namespace
}  // namespace connection
