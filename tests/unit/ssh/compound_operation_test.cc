#include "ssh/compound_operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "unit/ssh/sftp_operation_fixture.h"

namespace ssh {
namespace {

using namespace sftp_bytes;
using namespace std::chrono_literals;

class CompoundOperationTest : public SftpOperationFixture {
 protected:
  std::shared_ptr<StatAndReadOperation> StatAndRead() {
    auto read = std::make_shared<StatAndReadOperation>("/f", RemoteHandle{"h", 1}, std::size_t{5});
    read->Begin(client_, now_);
    return read;
  }
};

TEST_F(CompoundOperationTest, AListingOfASmallDirectoryAsksForTheSizeAtOnceWithOpening) {
  for (const std::uint64_t size : {99U, 100U}) {
    SftpClient client(30s, now_);
    client.Receive(Version(), now_);
    const auto list = std::make_shared<SmallListOperation>("/d", 100);
    client.Consumed(client.output().size(), now_);
    list->Begin(client, now_);
    EXPECT_EQ(client.output(),
              Packet(17, Number32(1) + String("/d")) + Packet(11, Number32(2) + String("/d")));
    client.Consumed(client.output().size(), now_);
    client.Receive(Attributes(1, size) + Handle(2, "dir"), now_);
    if (size < 100) {
      EXPECT_FALSE(list->finished());
      client.Receive(Packet(104, Number32(3) + Number32(1) + Name("a")) + Status(4, 1), now_);
    }
    ASSERT_TRUE(list->finished());
    ASSERT_EQ(list->entries.has_value(), size < 100);
    EXPECT_EQ(list->entries.value_or(std::vector<guest::DirectoryEntry>()).size(),
              size < 100 ? 1U : 0U);
    const std::string close = size == 100 ? Packet(4, Number32(3) + String("dir"))
                                          : Packet(4, Number32(6) + String("dir"));
    EXPECT_THAT(client.output(), ::testing::EndsWith(close));
  }
}

TEST_F(CompoundOperationTest, AListingOfASmallDirectoryFailsWithWhateverFailedFirst) {
  const auto no_stat = std::make_shared<SmallListOperation>("/d", 100);
  no_stat->Begin(client_, now_);
  client_.Consumed(client_.output().size(), now_);
  Receive(Status(1, 2) + Handle(2, "dir"));
  ExpectFailure<guest::FileError>(*no_stat);
  EXPECT_EQ(client_.output(), Packet(4, Number32(3) + String("dir"))) << "not left open";

  const auto no_open = std::make_shared<SmallListOperation>("/d", 100);
  no_open->Begin(client_, now_);
  Receive(Attributes(4, 10) + Status(5, 3));
  ExpectFailure<guest::FileError>(*no_open);
}

TEST_F(CompoundOperationTest, AttributesAndContentAreAskedForAtOnce) {
  const auto read = StatAndRead();
  EXPECT_EQ(TakeOutput(), Packet(8, Number32(1) + String("h")) + Read(2, 0, 4) + Read(3, 4, 1));
  Receive(Data(2, "text") + Status(3, 1));
  EXPECT_FALSE(read->finished());
  Receive(Attributes(1, 4));
  ASSERT_TRUE(read->finished());
  read->completion().Wait({}, [](support::StopReason) {});
  EXPECT_EQ(read->beginning.bytes, "text");
  EXPECT_EQ(read->beginning.attributes.size, 4U);
  EXPECT_EQ(TakeOutput(), "") << "left open";
}

TEST_F(CompoundOperationTest, WhatFailsFirstIsTheFailureOfTheWhole) {
  const auto read = StatAndRead();
  Receive(Attributes(1, 4) + Status(2, 3) + Status(3, 1));
  ExpectFailure<guest::FileError>(*read);
}

TEST_F(CompoundOperationTest, PartsOfOneThatWasWithdrawnAskForNothingMore) {
  auto read = StatAndRead();
  read->Finish(std::make_exception_ptr(support::Stopped(support::StopReason::kCancelled)));
  TakeOutput();
  Receive(Attributes(1, 4) + Data(2, "te"));  // a short answer, to be asked for the rest
  EXPECT_EQ(TakeOutput(), "");
  ExpectFailure<support::Stopped>(*read);
  read.reset();
  Receive(Data(3, "x"));  // nobody is left to take it
}

}  // namespace
}  // namespace ssh
