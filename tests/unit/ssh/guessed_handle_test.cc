#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ssh/find_operation.h"
#include "support/errors.h"
#include "unit/ssh/find_operation_fixture.h"

namespace ssh {
namespace {

using namespace sftp_bytes;

class GuessedHandleTest : public FindOperationTest {
 protected:
  GuessedHandleTest() { Converse(OpenSshVersion()); }

  /// A server that has opened and closed "h" before. The next request is number 4.
  void Converse(const std::string& version) {
    client_ = SftpClient(std::chrono::seconds(30), now_);
    client_.Receive(version, now_);
    if (version == OpenSshVersion()) {
      Receive(NoLimits(1));
    } else {
      Ask(SftpType::kStat);
    }
    Ask(SftpType::kOpen);
    Receive(Handle(2, "h"));
    Close("h");
    TakeOutput();
  }
  void Ask(SftpType type) {
    client_.Send(PathRequest(type, "/f"), now_, [](SftpReply&&) {});
  }
  void Close(std::string_view handle) {
    client_.Send(HandleRequest(SftpType::kClose, handle), now_, [](SftpReply&&) {});
  }

  static std::string Reads(std::uint32_t id, std::string_view handle = "h") {
    return FindOperationTest::Ask(12, id, handle) + FindOperationTest::Ask(12, id + 1, handle) +
           FindOperationTest::Ask(12, id + 2, handle);
  }
};

TEST_F(GuessedHandleTest, ADirectoryIsListedInOneRoundTrip) {
  const auto list = Begin<FindAndListOperation>("/p");
  EXPECT_EQ(TakeOutput(), RealPath(4, "/p") + OpenDirectory(5) + Reads(6));
  Receive(Path(4, "/p") + Handle(5, "h") + Names(6, 2, Name("a") + Name(".", kDirectory)) +
          Names(7, 1, Name("b")) + Status(8, 1));
  ExpectNoFailure(*list);
  EXPECT_EQ(list->found.entries.value().size(), 2U);
  EXPECT_EQ(TakeOutput(), FindOperationTest::Close(9));
  EXPECT_EQ(client_.open_handles(), 0U);
}

TEST_F(GuessedHandleTest, NothingIsGuessedBesideAnOpenHandleOrOfAnotherServer) {
  Ask(SftpType::kOpen);
  TakeOutput();
  const auto beside = Begin<FindAndListOperation>("/p");
  EXPECT_EQ(TakeOutput(), RealPath(5, "/p") + OpenDirectory(6));

  Converse(Version());
  const auto other_server = Begin<FindAndListOperation>("/p");
  EXPECT_EQ(TakeOutput(), RealPath(4, "/p") + OpenDirectory(5));
}

TEST_F(GuessedHandleTest, AfterAWrongGuessTheDirectoryIsReadByItsHandleAndNothingIsGuessedAgain) {
  const auto list = Begin<FindAndListOperation>("/p");
  TakeOutput();
  Receive(Path(4, "/p") + Handle(5, "other"));
  EXPECT_EQ(TakeOutput(), Reads(9, "other"));
  Receive(Names(6, 1, Name("not of it")) + Status(7, 1) + Status(8, 4));
  EXPECT_FALSE(list->finished());
  Receive(Names(9, 2, Name("a") + Name(".", kDirectory)) + Status(10, 1) + Status(11, 1));
  ExpectNoFailure(*list);
  ASSERT_EQ(list->found.entries.value().size(), 1U);
  EXPECT_EQ(list->found.entries->front().name, "a");
  EXPECT_EQ(TakeOutput(), FindOperationTest::Ask(4, 12, "other"));

  Begin<FindAndListOperation>("/p");
  EXPECT_EQ(TakeOutput(), RealPath(13, "/p") + OpenDirectory(14));
}

TEST_F(GuessedHandleTest, TheHandleThatWasClosedLastComesNext) {
  Ask(SftpType::kOpen);
  Ask(SftpType::kOpen);
  Receive(Handle(4, "h") + Handle(5, "i"));
  Close("h");
  EXPECT_EQ(client_.LikelyHandle(), "") << "one is open";
  Close("i");
  EXPECT_EQ(client_.LikelyHandle(), "i");
}

TEST_F(GuessedHandleTest, AnEmptyHandleIsOneTooButNotGuessed) {
  const auto list = Begin<FindAndListOperation>("/p");
  TakeOutput();
  Receive(Path(4, "/p") + Handle(5, ""));
  EXPECT_EQ(TakeOutput(), Reads(9, ""));
  Receive(Names(9, 1, Name(".", kDirectory)) + Status(10, 1));
  ExpectNoFailure(*list);
  EXPECT_EQ(client_.open_handles(), 0U);
  EXPECT_EQ(client_.LikelyHandle(), "");
}

TEST_F(GuessedHandleTest, NamesThatComeBeforeTheHandleAreNotBelieved) {
  const auto list = Begin<FindAndListOperation>("/p");
  TakeOutput();
  Receive(Path(4, "/p") + Names(6, 1, Name("early")) + Handle(5, "h"));
  EXPECT_EQ(TakeOutput(), FindOperationTest::Close(9) + OpenDirectory(10));
  Receive(Names(7, 1, Name("late")) + Status(8, 1) + Handle(10, "h"));
  Receive(Names(11, 2, Name("a") + Name(".", kDirectory)) + Status(12, 1) + Status(13, 1));
  ExpectNoFailure(*list);
  ASSERT_EQ(list->found.entries.value().size(), 1U);
  EXPECT_EQ(list->found.entries->front().name, "a");
}

TEST_F(GuessedHandleTest, WhatLiesBehindALinkIsDropped) {
  const auto list = Begin<FindAndListOperation>("/p");
  TakeOutput();
  Receive(Path(4, "/outside") + Handle(5, "h"));
  EXPECT_EQ(TakeOutput(), FindOperationTest::Close(9) + LStat(10, "/outside"));
  Receive(Names(6, 1, Name("a")) + Status(7, 1) + Status(8, 1) + Attributes(10, 4, kDirectory));
  ExpectNoFailure(*list);
  EXPECT_FALSE(list->found.entries);
}

TEST_F(GuessedHandleTest, WhatCannotBeOpenedIsNotReadEither) {
  const auto list = Begin<FindAndListOperation>("/p");
  TakeOutput();
  Receive(Path(4, "/p") + Status(5, kDenied) + Status(6, 4) + Status(7, 4) + Status(8, 4) +
          Attributes(9, 4096, kDirectory));
  ExpectNoFailure(*list);
  EXPECT_FALSE(list->found.entries);
  EXPECT_EQ(client_.open_handles(), 0U);
  EXPECT_EQ(client_.LikelyHandle(), "h");
}

TEST_F(GuessedHandleTest, AListingThatWasWithdrawnIsNotLeftOpen) {
  const auto list = Begin<FindAndListOperation>("/p");
  TakeOutput();
  Cancel(*list);
  Receive(Path(4, "/p") + Handle(5, "h"));
  EXPECT_EQ(TakeOutput(), FindOperationTest::Close(9));
  Receive(Names(6, 1, Name("a")) + Status(7, 1) + Status(8, 1));
  EXPECT_EQ(TakeOutput(), "");
  EXPECT_EQ(client_.open_handles(), 0U);
}

}  // namespace
}  // namespace ssh
