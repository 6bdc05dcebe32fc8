#include "ssh/sftp_operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/errors.h"
#include "unit/ssh/sftp_operation_fixture.h"

namespace ssh {
namespace {

using namespace sftp_bytes;
using namespace std::chrono_literals;

class SftpOperationTest : public SftpOperationFixture {
 protected:
  std::shared_ptr<ReadOperation> Read(std::size_t length) {
    auto read =
        std::make_shared<ReadOperation>(SftpSubject{"read", "/f"}, RemoteHandle{"h", 1}, 0, length);
    read->Begin(client_, now_);
    return read;
  }
};

TEST_F(SftpOperationTest, AReadPutsPiecesInOrderWhateverTheirOrder) {
  const auto read = Read(70'000);  // three requests of 32 KiB at most
  Receive(Data(3, std::string(70'000 - 65'536, 'c')));
  Receive(Data(1, std::string(32'768, 'a')));
  EXPECT_FALSE(read->finished());
  Receive(Data(2, std::string(32'768, 'b')));
  ASSERT_TRUE(read->finished());
  EXPECT_EQ(read->bytes,
            std::string(32'768, 'a') + std::string(32'768, 'b') + std::string(4'464, 'c'));
}

TEST_F(SftpOperationTest, AShortAnswerIsAskedForAgainAndTeachesTheLength) {
  const auto read = Read(20'000);
  Receive(Data(1, std::string(8'000, 'a')));
  EXPECT_FALSE(read->finished());
  EXPECT_EQ(client_.maximum_read(), 32U * 1024U) << "the file may end there";
  Receive(Data(2, std::string(8'000, 'b')));
  EXPECT_EQ(client_.maximum_read(), 8'000U);
  Receive(Status(3, 1));
  ASSERT_TRUE(read->finished());
  EXPECT_EQ(read->bytes, std::string(8'000, 'a') + std::string(8'000, 'b'));
}

TEST_F(SftpOperationTest, AReadEndsWhereTheFileFirstEnded) {
  const auto read = Read(70'000);
  Receive(Data(3, "grown in the meantime"));
  Receive(Status(1, 1));
  ASSERT_TRUE(read->finished());
  EXPECT_EQ(read->bytes, "");
  Receive(Data(2, "late"));
  EXPECT_EQ(read->bytes, "");
}

TEST_F(SftpOperationTest, AReadRefusesWrongAmountsOfData) {
  const auto too_much = Read(10);
  Receive(Data(1, "eleven byte"));
  ExpectFailure<guest::FileError>(*too_much);
  const auto nothing = Read(10);
  Receive(Data(2, ""));
  ExpectFailure<guest::FileError>(*nothing);
}

TEST_F(SftpOperationTest, AReadKeepsABoundedAmountOnItsWay) {
  SftpClient client(30s, now_);
  client.Receive(Version(String("limits@openssh.com") + String("1")), now_);
  client.Receive(
      Packet(201, Number32(1) + Number64(0) + Number64(1ULL << 40U) + Number64(0) + Number64(0)),
      now_);
  const auto read = std::make_shared<ReadOperation>(SftpSubject{"read", "/f"}, RemoteHandle{"h", 1},
                                                    0, std::size_t{64} * 1024 * 1024);
  read->Begin(client, now_);
  EXPECT_EQ(client.pending(), ReadOperation::kFirstWindow);
  std::size_t most = 0;
  for (std::uint32_t id = 2; id < 100; ++id) {
    client.Receive(Data(id, std::string(kMaximumSftpData, 'x')), now_);
    most = std::max(most, client.pending());
  }
  EXPECT_GE(most * kMaximumSftpData, ReadOperation::kMostAhead);
  EXPECT_LT((most - 1) * kMaximumSftpData, ReadOperation::kMostAhead);
  EXPECT_LE(read->bytes.capacity(), ReadOperation::kReservedAtOnce);
}

TEST_F(SftpOperationTest, AWriteCutsToTheServersLengthAndStopsAtAnError) {
  const std::string bytes(100'000, 'x');
  const auto write =
      std::make_shared<WriteOperation>(SftpSubject{"write", "/f"}, RemoteHandle{"h", 1}, 0, bytes);
  write->Begin(client_, now_);
  EXPECT_EQ(client_.pending(), 4U);
  Receive(Status(1, 0) + Status(2, 4));
  ExpectFailure<guest::FileError>(*write);
  Receive(Status(3, 4) + Status(4, 4));
}

TEST_F(SftpOperationTest, AWriteKeepsABoundedAmountOfOutputAhead) {
  const std::string bytes(64 * 1024 * 1024, 'x');
  const auto write =
      std::make_shared<WriteOperation>(SftpSubject{"write", "/f"}, RemoteHandle{"h", 1}, 0, bytes);
  write->Begin(client_, now_);
  EXPECT_LE(client_.output().size(), WriteOperation::kOutputAhead + kMaximumSftpPacket);
  EXPECT_LE(client_.pending(), WriteOperation::kLargestWindow);
}

TEST_F(SftpOperationTest, AListingEndsWithTheEndOrWithNoNames) {
  for (const std::string& end : {Status(3, 1), Packet(104, Number32(3) + Number32(0))}) {
    SftpClient client(30s, now_);
    client.Receive(Version(), now_);
    const auto list = std::make_shared<ListOperation>("/d");
    list->Begin(client, now_);
    client.Receive(Handle(1, "dir"), now_);
    client.Receive(Packet(104, Number32(2) + Number32(3) + Name(".") + Name("..") + Name("a")),
                   now_);
    EXPECT_FALSE(list->finished());
    client.Consumed(client.output().size(), now_);
    client.Receive(end, now_);
    ASSERT_TRUE(list->finished());
    ASSERT_EQ(list->entries.size(), 1U);
    EXPECT_EQ(list->entries[0].name, "a");
    client.Receive(Status(4, 1), now_);
    EXPECT_EQ(client.output(), Packet(4, Number32(5) + String("dir"))) << "closed once";
  }
}

TEST_F(SftpOperationTest, ADirectoryOfWhichNothingIsToldIsEmptyOnlyWhereItMayBeEntered) {
  constexpr std::uint32_t kMissing = 2;
  constexpr std::uint32_t kDenied = 3;
  for (const std::string& answer : {Status(5, kDenied), Status(5, kMissing), Attributes(5, 4096)}) {
    SftpClient client(30s, now_);
    client.Receive(Version(), now_);
    const auto list = std::make_shared<ListOperation>("/d");
    list->Begin(client, now_);
    client.Receive(Handle(1, "dir"), now_);
    client.Consumed(client.output().size(), now_);
    client.Receive(Status(2, 1) + Status(3, 1) + Status(4, 1), now_);
    EXPECT_FALSE(list->finished());
    EXPECT_EQ(client.output(), Packet(7, Number32(5) + String("/d/."))) << "asked once";
    client.Consumed(client.output().size(), now_);
    client.Receive(answer, now_);
    EXPECT_EQ(client.output(), Packet(4, Number32(6) + String("dir"))) << "closed once";
    ASSERT_TRUE(list->finished());
    EXPECT_TRUE(list->entries.empty());
    if (answer == Status(5, kDenied)) {
      ExpectFailure<guest::FileError>(*list);
    } else {
      EXPECT_NO_THROW(list->completion().Wait({}, [](support::StopReason) {}));
    }
  }
}

TEST_F(SftpOperationTest, AListingOfAHundredNamesTakesTwoRoundTrips) {
  const auto list = std::make_shared<ListOperation>("/d");
  list->Begin(client_, now_);
  Receive(Handle(1, "dir"));
  std::string names;
  for (int i = 0; i < 100; ++i) names += Name("name");
  // Answers to what was asked for at once: OpenSSH gives a hundred names at a time, "." and ".."
  // among them.
  Receive(Packet(104, Number32(2) + Number32(100) + names) +
          Packet(104, Number32(3) + Number32(2) + Name("a") + Name("b")) + Status(4, 1));
  ASSERT_TRUE(list->finished());
  EXPECT_EQ(list->entries.size(), 102U);
}

TEST_F(SftpOperationTest, AListingAsksForMoreOnlyWhereTheAnswersStayFull) {
  const auto names = [](std::uint32_t id, std::uint32_t count) {
    std::string all;
    for (std::uint32_t i = 0; i < count; ++i) all += Name("name");
    return Packet(104, Number32(id) + Number32(count) + all);
  };
  const auto list = std::make_shared<ListOperation>("/d");
  list->Begin(client_, now_);
  Receive(Handle(1, "dir"));
  EXPECT_EQ(client_.pending(), ListOperation::kFirstWindow);
  Receive(names(2, 100));
  EXPECT_EQ(client_.pending(), ListOperation::kFirstWindow - 1) << "may be all there is";
  std::uint32_t id = 3;
  for (std::size_t window = ListOperation::kFirstWindow; window <= ListOperation::kLargestWindow;
       ++window) {
    Receive(names(id++, 100));
    EXPECT_EQ(client_.pending(), window);
  }
  Receive(names(id++, 99));
  EXPECT_EQ(client_.pending(), ListOperation::kLargestWindow - 1) << "the last";
  while (client_.pending() > 1) Receive(names(id++, 1));
  Receive(names(id++, 1));
  EXPECT_EQ(client_.pending(), 1U) << "the end must be asked for";
  Receive(Status(id, 1));
  EXPECT_TRUE(list->finished());
}

TEST_F(SftpOperationTest, AListingBelievesNeitherEndlessNorImpossibleNames) {
  for (const char* name : {"a/b", ""}) {
    SftpClient client(30s, now_);
    client.Receive(Version(), now_);
    const auto list = std::make_shared<ListOperation>("/d");
    list->Begin(client, now_);
    client.Receive(Handle(1, "dir"), now_);
    client.Receive(Packet(104, Number32(2) + Number32(1) + Name(name)), now_);
    ExpectFailure<guest::FileError>(*list);
  }
  std::string names;
  constexpr std::uint32_t kNames = 5'000;
  for (std::uint32_t i = 0; i < kNames; ++i) names += Name("name");
  const auto list = std::make_shared<ListOperation>("/d");
  list->Begin(client_, now_);
  Receive(Handle(1, "dir"));
  for (std::uint32_t id = 2; !list->finished(); ++id) {
    ASSERT_LT(id, 300U) << "the limit does not hold";
    Receive(Packet(104, Number32(id) + Number32(kNames) + names));
  }
  EXPECT_LE(list->entries.size(), ListOperation::kMaximumEntries);
  ExpectFailure<support::CallError>(*list);
}

TEST_F(SftpOperationTest, AListingKeepsNoMoreThanItsBytesOfNames) {
  const auto list = std::make_shared<ListOperation>("/d");
  list->Begin(client_, now_);
  Receive(Handle(1, "dir"));
  constexpr std::size_t kLength = std::size_t{128} << 10;
  constexpr std::size_t kPossible = ListOperation::kMaximumNameBytes / kLength;
  const std::string name = String(std::string(kLength, 'n')) + String("") + Number32(0);
  std::uint32_t id = 2;
  for (std::size_t i = 0; i < kPossible; ++i) {
    Receive(Packet(104, Number32(id++) + Number32(1) + name));
  }
  EXPECT_FALSE(list->finished());
  Receive(Packet(104, Number32(id) + Number32(1) + Name("x")));
  EXPECT_EQ(list->entries.size(), kPossible);
  ExpectFailure<support::CallError>(*list);
}

TEST_F(SftpOperationTest, AListingEndsWhereTheClientTakesNoFurtherRequest) {
  const auto list = std::make_shared<ListOperation>("/d");
  list->Begin(client_, now_);
  while (client_.pending() < SftpClient::kMaximumPending) {
    client_.Send(PathRequest(SftpType::kStat, "/"), now_, [](SftpReply&&) {});
  }
  Receive(Handle(1, "dir"));  // makes room for one
  ExpectFailure<support::ConnectionLost>(*list);
}

TEST_F(SftpOperationTest, TheServersOwnWordsAreCutAndPrintable) {
  const std::string words = "\x1b[2J" + std::string(100'000, 'w');
  const SftpReply reply = SftpStatus{SftpStatusCode::kFailure, words};
  try {
    std::rethrow_exception(FailureOf({"open", "/f"}, reply));
  } catch (const guest::FileError& error) {
    EXPECT_EQ(error.detail(), "\\x1b[2J" + std::string(kMaximumServerWords - 4, 'w'));
  }
}

TEST_F(SftpOperationTest, WhatTheServerDoesNotOfferIsUnsupported) {
  const auto ask = std::make_shared<AskOperation>(
      SftpSubject{"rename", "/a to /b"}, ExtendedRequest(kPosixRenameExtension, {"/a", "/b"}),
      kPosixRenameExtension, 0);
  ask->Begin(client_, now_);
  ASSERT_TRUE(ask->finished());
  try {
    ask->completion().Wait({}, [](support::StopReason) {});
    FAIL();
  } catch (const guest::FileError& error) {
    EXPECT_EQ(error.code(), guest::FileErrorCode::kUnsupported);
  }
  EXPECT_EQ(client_.pending(), 0U) << "never a removal and a rename instead";
}

TEST_F(SftpOperationTest, AHandleThatComesTooLateIsClosed) {
  const auto ask = std::make_shared<AskOperation>(
      SftpSubject{"open", "/a"}, OpenRequest("/a", guest::OpenMode::kRead, 0), "", 0);
  ask->Begin(client_, now_);
  ask->Finish(std::make_exception_ptr(support::Stopped(support::StopReason::kCancelled)));
  client_.Consumed(client_.output().size(), now_);
  Receive(Handle(1, "late"));
  EXPECT_EQ(client_.output(), Packet(4, Number32(2) + String("late")));
}

}  // namespace
}  // namespace ssh
