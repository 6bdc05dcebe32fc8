#include "ssh/find_operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "unit/ssh/find_operation_fixture.h"

namespace ssh {
namespace {

using namespace sftp_bytes;

constexpr std::uint32_t kRegular = 0100644;
constexpr std::uint32_t kFifo = 0010644;

TEST_F(FindOperationTest, PathAndAttributesAreAskedForAtOnceWhateverComesFirst) {
  for (const bool path_first : {true, false}) {
    const auto find = Begin<FindOperation>("/p");
    const std::uint32_t id = path_first ? 1 : 3;
    EXPECT_EQ(TakeOutput(), RealPath(id, "/p") + LStat(id + 1, "/p"));
    Receive(path_first ? Path(id, "/p") : Attributes(id + 1, 4, kRegular));
    EXPECT_FALSE(find->finished());
    Receive(path_first ? Attributes(id + 1, 4, kRegular) : Path(id, "/p"));
    ExpectNoFailure(*find);
    EXPECT_EQ(find->found.path, "/p");
    EXPECT_EQ(find->found.attributes.value().size, 4U);
    EXPECT_EQ(TakeOutput(), "");
  }
}

TEST_F(FindOperationTest, ThroughALinkTheTargetsAttributesCount) {
  for (const bool links_come_late : {false, true}) {
    const auto find = Begin<FindOperation>("/p");
    const std::uint32_t id = links_come_late ? 4 : 1;
    TakeOutput();
    Receive(Path(id, "/target"));
    EXPECT_EQ(TakeOutput(), LStat(id + 2, "/target"));
    if (!links_come_late) Receive(Attributes(id + 1, 7, 0120777));
    EXPECT_FALSE(find->finished());
    Receive(Attributes(id + 2, 4, kRegular));
    ExpectNoFailure(*find);
    EXPECT_EQ(find->found.path, "/target");
    EXPECT_EQ(find->found.attributes.value().size, 4U);
    if (links_come_late) Receive(Attributes(id + 1, 7, 0120777));
  }
}

TEST_F(FindOperationTest, WhatIsNotThereHasNoAttributesAndWhatMayNotBeSeenIsAFailure) {
  const auto missing = Begin<FindOperation>("/p");
  Receive(Path(1, "/p") + Status(2, 2));
  ExpectNoFailure(*missing);
  EXPECT_FALSE(missing->found.attributes);

  const auto denied = Begin<FindOperation>("/p");
  Receive(Path(3, "/p") + Status(4, kDenied));
  ExpectFailure<guest::FileError>(*denied);

  const auto no_path = Begin<FindOperation>("/p");
  Receive(Status(5, 2) + Status(6, 2));
  ExpectFailure<guest::FileError>(*no_path);

  const auto two_names = Begin<FindOperation>("/p");
  Receive(Names(7, 2, Name("/p") + Name("/q")) + Attributes(8, 4, kRegular));
  ExpectFailure<guest::FileError>(*two_names);
}

TEST_F(FindOperationTest, ADirectoryIsOpenedAtOnceAndReadWhenItIsKnownToBeThePathItself) {
  const auto list = Begin<FindAndListOperation>("/p");
  EXPECT_EQ(TakeOutput(), RealPath(1, "/p") + OpenDirectory(2));
  Receive(Path(1, "/p"));
  EXPECT_EQ(TakeOutput(), "");
  Receive(Handle(2, "h"));
  EXPECT_EQ(TakeOutput(), Ask(12, 3, "h") + Ask(12, 4, "h") + Ask(12, 5, "h"));
  Receive(Names(3, 2, Name("a") + Name(".", kDirectory)) + Status(4, 1) + Status(5, 1));
  ExpectNoFailure(*list);
  EXPECT_EQ(list->found.file.path, "/p");
  EXPECT_EQ(list->found.file.attributes.value().type, guest::FileType::kDirectory);
  ASSERT_EQ(list->found.entries.value().size(), 1U);
  EXPECT_EQ(TakeOutput(), Close(6));
}

TEST_F(FindOperationTest, WhereTheServerDoesNotTellOfTheDirectoryItselfItIsAsked) {
  std::uint32_t id = 1;
  for (const std::string& names : {Names(3, 1, Name("a")), Names(10, 2, Name(".") + Name("a"))}) {
    const auto list = Begin<FindAndListOperation>("/p");
    Receive(Path(id, "/p") + Handle(id + 1, "h") + names + Status(id + 3, 1));
    EXPECT_FALSE(list->finished());
    EXPECT_THAT(TakeOutput(), ::testing::EndsWith(LStat(id + 5, "/p") + Close(id + 6)));
    Receive(Attributes(id + 5, 4096, kDirectory));
    ExpectNoFailure(*list);
    EXPECT_EQ(list->found.file.attributes.value().size, 4096U);
    EXPECT_EQ(list->found.entries.value().size(), 1U);
    id += 7;
  }
}

TEST_F(FindOperationTest, WhatIsNotTheDirectoryItselfIsClosedUnread) {
  const auto through_link = Begin<FindAndListOperation>("/p");
  Receive(Path(1, "/target"));
  TakeOutput();
  Receive(Handle(2, "h"));
  EXPECT_EQ(TakeOutput(), Close(3) + LStat(4, "/target"));
  Receive(Attributes(4, 4096, kDirectory));
  ExpectNoFailure(*through_link);
  EXPECT_EQ(through_link->found.file.path, "/target");
  EXPECT_FALSE(through_link->found.entries);

  const auto in_another_order = Begin<FindAndListOperation>("/p");
  TakeOutput();
  Receive(Handle(6, "h"));
  EXPECT_EQ(TakeOutput(), Close(7)) << "nothing is known of it yet";
  Receive(Path(5, "/p") + Attributes(8, 4096, kDirectory));
  ExpectNoFailure(*in_another_order);
  EXPECT_FALSE(in_another_order->found.entries);
}

TEST_F(FindOperationTest, WhatCannotBeOpenedAsADirectoryIsFoundWithoutEntries) {
  for (const bool refusal_first : {false, true}) {
    const auto list = Begin<FindAndListOperation>("/p");
    const std::uint32_t id = refusal_first ? 4 : 1;
    if (refusal_first) Receive(Status(id + 1, kDenied));
    Receive(Path(id, "/p"));
    if (!refusal_first) Receive(Status(id + 1, kDenied));
    Receive(Attributes(id + 2, 4096, kDirectory));
    ExpectNoFailure(*list);
    EXPECT_EQ(list->found.file.path, "/p");
    EXPECT_TRUE(list->found.file.attributes);
    EXPECT_FALSE(list->found.entries);
  }

  const auto missing = Begin<FindAndListOperation>("/p");
  Receive(Path(7, "/p") + Status(8, 2) + Status(9, 2));
  ExpectNoFailure(*missing);
  EXPECT_FALSE(missing->found.file.attributes);

  const auto unseen = Begin<FindAndListOperation>("/p");
  Receive(Path(10, "/p") + Status(11, kDenied) + Status(12, kDenied));
  ExpectFailure<guest::FileError>(*unseen);

  const auto no_path = Begin<FindAndListOperation>("/p");
  Receive(Status(13, 2) + Status(14, 2));
  ExpectFailure<guest::FileError>(*no_path);
}

TEST_F(FindOperationTest, AListingThatWasWithdrawnIsNeitherReadNorLeftOpen) {
  const auto opening = Begin<FindAndListOperation>("/p");
  Receive(Path(1, "/p"));
  TakeOutput();
  Cancel(*opening);
  Receive(Handle(2, "h"));
  EXPECT_EQ(TakeOutput(), Close(3));

  const auto reading = Begin<FindAndListOperation>("/p");
  Receive(Path(4, "/p") + Handle(5, "h"));
  TakeOutput();
  Cancel(*reading);
  Receive(Names(6, 1, Name("a")));
  EXPECT_EQ(TakeOutput(), Close(9));
  EXPECT_EQ(client_.open_handles(), 0U);
}

TEST_F(FindOperationTest, ASmallFileIsReadAndClosedWithoutBeingAskedForAgain) {
  const auto read = Begin<FindAndReadOperation>("/p", 100);
  EXPECT_EQ(TakeOutput(), RealPath(1, "/p") + LStat(2, "/p"));
  Receive(Path(1, "/p") + Attributes(2, 4, kRegular));
  EXPECT_EQ(TakeOutput(), Open(3));
  Receive(Handle(3, "h"));
  EXPECT_EQ(TakeOutput(), Ask(8, 4, "h") + Read(5, 0, 5) + Close(6));
  Receive(Attributes(4, 4, kRegular) + Data(5, "text"));
  ExpectNoFailure(*read);
  EXPECT_EQ(read->found.file.path, "/p");
  EXPECT_EQ(read->found.beginning.value().bytes, "text");
  Receive(Status(6, 0));
  EXPECT_EQ(TakeOutput(), "");
}

TEST_F(FindOperationTest, WhatIsNoSmallRegularFileIsNeverOpened) {
  std::uint32_t id = 1;
  const auto expect_not_opened = [&](const std::string& path, std::uint64_t size,
                                     std::uint32_t mode) {
    const auto read = Begin<FindAndReadOperation>("/p", std::uint64_t{1} << 20U);
    TakeOutput();
    Receive(Path(id, path) + Attributes(id + 1, size, mode));
    id += 2;
    if (path != "/p") Receive(Attributes(id++, 4, kRegular));
    EXPECT_THAT(TakeOutput(), ::testing::AnyOf("", LStat(id - 1, path)));
    ExpectNoFailure(*read);
    EXPECT_FALSE(read->found.beginning);
  };
  expect_not_opened("/p", 0, kFifo);
  expect_not_opened("/p", 0, kDirectory);
  expect_not_opened("/target", 4, kRegular);
  expect_not_opened("/p", client_.maximum_read(), kRegular);
  expect_not_opened("/p", std::uint64_t{1} << 20U, kRegular);
}

TEST_F(FindOperationTest, AFileOfAsMuchAsOneAnswerHoldsIsRead) {
  const auto read = Begin<FindAndReadOperation>("/p", std::uint64_t{1} << 20U);
  const std::string content(client_.maximum_read() - 1, 'x');
  Receive(Path(1, "/p") + Attributes(2, content.size(), kRegular) + Handle(3, "h") +
          Attributes(4, content.size(), kRegular) + Data(5, content));
  ExpectNoFailure(*read);
  EXPECT_EQ(read->found.beginning.value().bytes, content);
}

TEST_F(FindOperationTest, AnEmptyFileAndOneThatGrowsAreRead) {
  const auto empty = Begin<FindAndReadOperation>("/p", 100);
  Receive(Path(1, "/p") + Attributes(2, 0, kRegular) + Handle(3, "h") + Attributes(4, 0, kRegular) +
          Status(5, 1) + Status(6, 0));
  ExpectNoFailure(*empty);
  EXPECT_EQ(empty->found.beginning.value().bytes, "");

  const auto grown = Begin<FindAndReadOperation>("/p", 100);
  Receive(Path(7, "/p") + Attributes(8, 4, kRegular) + Handle(9, "h") +
          Attributes(10, 8, kRegular) + Data(11, "text!"));
  ExpectNoFailure(*grown);
  EXPECT_EQ(grown->found.beginning.value().bytes, "text!") << "as many as were asked for";
  EXPECT_EQ(grown->found.beginning.value().attributes.size, 8U);
}

TEST_F(FindOperationTest, AFileThatCannotBeReadAtOnceIsFoundWithoutContent) {
  const auto denied = Begin<FindAndReadOperation>("/p", 100);
  Receive(Path(1, "/p") + Attributes(2, 4, kRegular) + Status(3, kDenied));
  ExpectNoFailure(*denied);
  EXPECT_FALSE(denied->found.beginning);

  const auto short_answer = Begin<FindAndReadOperation>("/p", 100);
  Receive(Path(4, "/p") + Attributes(5, 4, kRegular) + Handle(6, "h") + Attributes(7, 4, kRegular) +
          Data(8, "te") + Status(9, 0));
  ExpectNoFailure(*short_answer);
  EXPECT_FALSE(short_answer->found.beginning);

  const auto unreadable = Begin<FindAndReadOperation>("/p", 100);
  Receive(Path(10, "/p") + Attributes(11, 4, kRegular) + Handle(12, "h") +
          Attributes(13, 4, kRegular) + Status(14, 4) + Status(15, 0));
  ExpectNoFailure(*unreadable);
  EXPECT_FALSE(unreadable->found.beginning);
}

TEST_F(FindOperationTest, AFileThatIsOpenedTooLateIsClosed) {
  const auto read = Begin<FindAndReadOperation>("/p", 100);
  Receive(Path(1, "/p") + Attributes(2, 4, kRegular));
  TakeOutput();
  Cancel(*read);
  Receive(Handle(3, "h"));
  EXPECT_EQ(TakeOutput(), Close(4));
}

TEST_F(FindOperationTest, ALostLineIsNoMissingContent) {
  for (const bool has_been_found : {false, true}) {
    SftpClient client(std::chrono::seconds(30), now_);
    client.Receive(Version(), now_);
    const auto read = std::make_shared<FindAndReadOperation>("/p", 100);
    const auto list = std::make_shared<FindAndListOperation>("/p");
    read->Begin(client, now_);
    list->Begin(client, now_);
    if (has_been_found) {
      client.Receive(Path(1, "/p") + Attributes(2, 4, kRegular) + Path(3, "/p"), now_);
    }
    client.Consumed(client.output().size(), now_);
    client.Fail("gone");
    for (SftpOperation* operation :
         {static_cast<SftpOperation*>(read.get()), static_cast<SftpOperation*>(list.get())}) {
      ASSERT_TRUE(operation->finished());
      try {
        operation->completion().Wait({}, [](support::StopReason) {});
        FAIL();
      } catch (const support::ConnectionLost& lost) {
        EXPECT_FALSE(lost.may_have_run());
      }
    }
  }
}

}  // namespace
}  // namespace ssh
