#include "connection/path_questions.h"

#include <gtest/gtest.h>

#include "support/printable.h"
#include "testing/local_guest.h"

namespace connection {
namespace {

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

}  // namespace
}  // namespace connection
