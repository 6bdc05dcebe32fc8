// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ssh/sftp/sftp_codec.h"
#include "ssh/sftp/sftp_service.h"
#include "support/errors.h"
#include "unit/server/ssh/sftp/sftp_bytes.h"

namespace ssh {
namespace {

using namespace sftp_bytes;
using namespace std::chrono_literals;
using guest::FileErrorCode;
using guest::Request;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

const guest::Handle kFile{"h", 1, "/a"};

guest::Reply Decoded(const Request& request, const std::string& bytes) {
  SftpDecoder decoder;
  decoder.Append(bytes);
  return DecodeReply(request, decoder.Next().value(), 1);
}

TEST(SftpDecoding, ReadsAttributesWithEveryField) {
  const std::string attributes = Number32(0x8000000FU) + Number64(1234) + Number32(501) +
                                 Number32(20) + Number32(0104755) + Number32(1) + Number32(1700) +
                                 Number32(1) + String("name") + String("value");
  guest::Reply reply = Decoded(Request::LStat("/a"), Packet(105, Number32(3) + attributes));
  const auto& read = reply.As<guest::FileAttributes>();
  EXPECT_EQ(read.type, guest::FileType::kRegular);
  EXPECT_EQ(read.permissions, 04755U);
  EXPECT_EQ(read.size, 1234U);
  EXPECT_EQ(read.user_id, 501U);
  EXPECT_EQ(read.group_id, 20U);
  EXPECT_EQ(read.modified, 1700);
}

TEST(SftpDecoding, ReadsEachByteAlone) {
  const std::string bytes =
      Version(String("limits@openssh.com") + String("1")) + Status(1, 2) + Data(2, "abc");
  SftpDecoder decoder;
  std::optional<SftpExtensions> offered;
  std::vector<std::pair<std::uint32_t, std::string>> packets;
  for (const char byte : bytes) {
    decoder.Append(std::string_view(&byte, 1));
    if (!offered) {
      offered = decoder.NextVersion();
    } else if (std::optional<SftpPacket> packet = decoder.Next()) {
      packets.emplace_back(packet->id, packet->body);
    }
  }
  EXPECT_EQ(offered, SftpExtensions{"limits@openssh.com"});
  ASSERT_EQ(packets.size(), 2U);
  EXPECT_EQ(packets[0].first, 1U);
  EXPECT_EQ(packets[1], std::pair(2U, String("abc")));
}

TEST(SftpDecoding, APacketOfTheGreatestLengthIsTakenAndALongerOneIsNot) {
  const std::string data(kMaxSftpPacket - 9, 'x');
  const Request read = Request::Read(kFile, 0, data.size());
  EXPECT_EQ(Decoded(read, Data(1, data)).As<std::string>().size(), data.size());
  SftpDecoder decoder;
  decoder.Append(Number32(kMaxSftpPacket + 1));
  EXPECT_THROW(decoder.Next(), SftpProtocolError);
  SftpDecoder empty;
  empty.Append(Number32(0));
  EXPECT_THROW(empty.Next(), SftpProtocolError);
}

TEST(SftpDecoding, FieldsThatReachBeyondThePacketAreRefused) {
  for (const auto& [request, packet] : std::vector<std::pair<Request, std::string>>{
           {Request::Read(kFile, 0, 100), Packet(103, Number32(1) + Number32(100) + "short")},
           {Request::Read(kFile, 0, 100), Packet(103, Number32(1) + Number32(0xFFFFFFFFU))},
           {Request::Open("/a"), Packet(102, Number32(1))},
           {Request::RealPath("/a"), Packet(104, Number32(1) + Number32(0xFFFFFFFFU) + Name("a"))},
           {Request::ReadDirectory(kFile), Packet(104, Number32(1) + Number32(2) + Name("a"))},
           {Request::LStat("/a"),
            Packet(105, Number32(1) + Number32(0x80000000U) + Number32(0xFFFFFFFFU))},
           {Request::StatFileSystem("/a"), Packet(201, Number32(1) + Number64(1))},
           {Request::LStat("/a"), Packet(101, Number32(1))},
           {Request::LStat("/a"), Packet(101, "\1")}}) {
    EXPECT_THROW(Decoded(request, packet), SftpProtocolError);
  }
  EXPECT_THROW(DecodeLimits({SftpType::kExtendedReply, 1, "short"}), SftpProtocolError);
}

TEST(SftpDecoding, TextOfALoginProfileIsNamed) {
  SftpDecoder decoder;
  decoder.Append("Last login: today\x1b[31m\n");
  EXPECT_THAT([&] { decoder.NextVersion(); },
              ThrowsMessage<SftpProtocolError>(AllOf(HasSubstr("login profile prints text"),
                                                     HasSubstr("\"Last login: today\\x1b[31m\""))));
}

TEST(SftpDecoding, FileSystemStatusHasTheIdentityOfTheFileSystemAndDoesNotOverflow) {
  const auto status = [](std::uint64_t available, std::uint64_t flags) {
    std::string body;
    for (std::uint64_t number = 1; number <= 11; ++number) {
      body += Number64(number == 5 ? available : number == 10 ? flags : number);
    }
    return Decoded(Request::StatFileSystem("/a"), Packet(201, Number32(1) + body))
        .As<guest::FileSystemStatus>();
  };
  EXPECT_EQ(status(10, 2).block_size, 1U);
  EXPECT_EQ(status(10, 2).blocks, 3U);
  EXPECT_EQ(status(10, 2).files, 6U);
  EXPECT_EQ(status(10, 2).free_files, 8U);
  EXPECT_EQ(status(10, 2).id, 9U);
  EXPECT_EQ(status(10, 2).maximum_name, 11U);
  EXPECT_EQ(status(10, 2).free_bytes, 20U);
  EXPECT_EQ(status(UINT64_MAX, 2).free_bytes, UINT64_MAX);
  EXPECT_FALSE(status(10, 2).read_only);
  EXPECT_TRUE(status(10, 3).read_only);
}

/// Kinds of replies.
enum : std::size_t { kStatus, kHandle, kData, kNames, kAttributes, kExtendedReply };

constexpr std::uint32_t kEndOfFile = 1;
constexpr std::uint32_t kDenied = 3;
constexpr std::uint32_t kPiece = 32U * 1024U;  // the most in one request, without limits

const guest::Handle kOpenFile{"h", 1, "/f"};
const guest::Handle kWritten{"w", 1, "/f", true};

void Wait(Burst& burst) {
  ASSERT_TRUE(burst.finished());
  burst.completion().Wait({}, [](support::StopReason) {});
}

/// Sends bursts to a server that the test simulates.
class BurstTest : public ::testing::Test {
 protected:
  BurstTest() { Converse(Version()); }

  void Converse(const std::string& version) {
    channel_.emplace(broker_, 1);
    channel_->Receive(version, now_);
    TakeOutput();
  }
  std::shared_ptr<Burst> Begin(std::vector<guest::Request> requests, TimePoint now = {}) {
    const auto burst = std::make_shared<Burst>(std::move(requests));
    burst->Begin(*channel_, now);
    return burst;
  }
  void Receive(const std::string& bytes) { channel_->Receive(bytes, now_); }
  /// The bytes sent since the last call.
  std::string TakeOutput() {
    std::string output(channel_->output());
    channel_->Consumed(output.size());
    return output;
  }
  static std::vector<guest::Reply> Replies(Burst& burst) {
    Wait(burst);
    return burst.TakeReplies();
  }
  /// For a burst to another server without extensions, to which the first request is number 1.
  std::vector<guest::Reply> Replies(std::vector<guest::Request> requests,
                                    const std::string& received) {
    Converse(Version());
    const auto burst = Begin(std::move(requests));
    Receive(received);
    return Replies(*burst);
  }
  std::string Read(std::size_t length, const std::string& received) {
    return Replies({Request::Read(kOpenFile, 0, length)}, received).front().As<std::string>();
  }
  static bool MayHaveRun(Burst& burst) {
    try {
      Wait(burst);
      ADD_FAILURE() << "was not lost";
    } catch (const support::ConnectionLost& lost) {
      return lost.may_have_run();
    }
    return false;
  }
  static std::string PathRequest(int type, std::uint32_t id, std::string_view argument) {
    return Packet(type, Number32(id) + String(argument));
  }

  TimePoint now_{};
  ChannelBroker broker_{nullptr, [] { return false; }, [] { return ""; }};
  std::optional<SftpChannel> channel_;
};

TEST_F(BurstTest, SendsRequestsTogetherAndMatchesRepliesInAnyOrder) {
  const auto burst =
      Begin({Request::RealPath("/p"), Request::LStat("/p"), Request::OpenDirectory("/p"),
             Request::Open("/p", guest::OpenMode::kWrite)});
  EXPECT_EQ(TakeOutput(), PathRequest(16, 1, "/p") + PathRequest(7, 2, "/p") +
                              PathRequest(11, 3, "/p") +
                              Packet(3, Number32(4) + String("/p") + Number32(2) + Number32(0)));
  Receive(Handle(4, "f") + Handle(3, "d") + Attributes(2, 4));
  EXPECT_FALSE(burst->finished());
  Receive(Names(1, 1, Name("/q")));
  auto replies = Replies(*burst);
  EXPECT_EQ(replies[0].As<std::string>(), "/q");
  EXPECT_EQ(replies[1].As<guest::FileAttributes>().size, 4U);
  EXPECT_EQ(replies[2].As<guest::Handle>(), (guest::Handle{"d", 1, "/p", false}));
  EXPECT_EQ(replies[3].As<guest::Handle>(), (guest::Handle{"f", 1, "/p", true}));
  EXPECT_EQ(TakeOutput(), "") << "what it opened is its caller's";
}

TEST_F(BurstTest, EachRequestHasItsPacketAndAcceptsOneKindOfReply) {
  const auto extension = [](const std::string& name) { return String(name + "@openssh.com"); };
  const std::string offered = extension("posix-rename") + String("1") + extension("fsync") +
                              String("1") + extension("statvfs") + String("2");
  std::string numbers;
  for (int i = 0; i < 11; ++i) numbers += Number64(1);
  const std::vector<std::string> kinds = {Status(1, 0),      Handle(1, "h"),
                                          Data(1, "x"),      Names(1, 1, Name("/n")),
                                          Attributes(1, 10), Packet(201, Number32(1) + numbers)};
  const std::string p = String("/p");
  const std::string h = String("h");
  const std::string mode = Number32(4) + Number32(0640);  // attributes with permissions alone
  using Case = std::tuple<guest::Request, int, std::string, std::size_t>;
  for (const auto& [request, type, rest, wanted] : std::vector<Case>{
           {Request::LStat("/p"), 7, p, kAttributes},
           {Request::RealPath("/p"), 16, p, kNames},
           {Request::ReadLink("/p"), 19, p, kNames},
           {Request::StatFileSystem("/p"), 200, extension("statvfs") + p, kExtendedReply},
           {Request::Open("/p", guest::OpenMode::kRead, 0640), 3, p + Number32(1) + Number32(0),
            kHandle},
           {Request::Open("/p", guest::OpenMode::kCreateExclusive, 0640), 3,
            p + Number32(0x2A) + mode, kHandle},
           {Request::OpenDirectory("/p"), 11, p, kHandle},
           {Request::MakeDirectory("/p", 0640), 14, p + mode, kStatus},
           {Request::Rename("/p", "/q"), 200, extension("posix-rename") + p + String("/q"),
            kStatus},
           {Request::Unlink("/p"), 13, p, kStatus},
           {Request::StatOpen(kOpenFile), 8, h, kAttributes},
           {Request::Read(kOpenFile, 1ULL << 40U, 1), 5, h + Number64(1ULL << 40U) + Number32(1),
            kData},
           {Request::Write(kOpenFile, 7, "x"), 6, h + Number64(7) + String("x"), kStatus},
           {Request::SetAttributes(kOpenFile, {0640, {}}), 10, h + mode, kStatus},
           {Request::SetAttributes(kOpenFile, {0640, 3}), 10,
            h + Number32(5) + Number64(3) + Number32(0640), kStatus},
           {Request::Sync(kOpenFile), 200, extension("fsync") + h, kStatus},
           {Request::Close(kOpenFile), 4, h, kStatus},
           {Request::ReadDirectory(kOpenFile), 12, h, kNames}}) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      Converse(Version(offered));
      const auto burst = Begin({request});
      EXPECT_EQ(TakeOutput(), Packet(type, Number32(1) + rest));
      Receive(kinds[kind]);
      EXPECT_EQ(Replies(*burst).front().Is(FileErrorCode::kFailure), kind != wanted)
          << "request " << type << ", kind " << kind;
    }
  }
}

TEST_F(BurstTest, AReadIsCutToTheServersLengthAndPutInOrder) {
  const std::string a(kPiece, 'a');
  const std::string b(kPiece, 'b');
  EXPECT_EQ(Read(2 * kPiece + 4, Data(3, "rest") + Data(1, a) + Data(2, b)), a + b + "rest");
  EXPECT_EQ(Read(0, ""), "") << "requests nothing";
  Begin({Request::Read(kOpenFile, 0, 2 * guest::kMaxTransfer)});
  EXPECT_EQ(channel_->pending(), guest::kMaxTransfer / kPiece);
}

TEST_F(BurstTest, AReadEndsAtTheFirstShortReply) {
  const std::string some(8'000, 'a');
  EXPECT_EQ(Read(2 * kPiece, Data(1, some) + Data(2, some)), some);
  EXPECT_EQ(Read(3 * kPiece, Data(3, "grown") + Status(1, kEndOfFile) + Data(2, "late")), "");
  EXPECT_EQ(Read(2 * kPiece, Data(1, "text") + Status(2, kEndOfFile)), "text");
}

TEST_F(BurstTest, WrongAmountsOfDataAreRefused) {
  EXPECT_THROW(Read(10, Data(1, "eleven byte")), guest::FileError);
  EXPECT_THROW(Read(10, Data(1, "")), guest::FileError);
}

TEST_F(BurstTest, AWriteIsCutToTheServersLengthAndReportsItsFirstError) {
  const std::string bytes(100'000, 'x');
  const auto burst = Begin({Request::Write(kOpenFile, 5, bytes)});
  EXPECT_EQ(channel_->pending(), 4U);
  EXPECT_THAT(TakeOutput(), StartsWith(Packet(6, Number32(1) + String("h") + Number64(5) +
                                                     String(bytes.substr(0, kPiece)))));
  Receive(Status(1, 0) + Status(2, kDenied) + Status(3, 4));
  EXPECT_FALSE(burst->finished());
  Receive(Status(4, 0));
  EXPECT_TRUE(Replies(*burst).front().Is(FileErrorCode::kPermissionDenied));
}

TEST_F(BurstTest, AStatusIsTheErrorOfOneRequest) {
  auto replies =
      Replies({Request::Open("/a"), Request::LStat("/b"), Request::Unlink("/c"),
               Request::ReadLink("/d"), Request::LStat("/e"), Request::LStat("/f")},
              Status(1, 2) + Status(2, kDenied) + Status(3, 8) + Status(4, kEndOfFile) +
                  Attributes(5, 4) + Packet(101, Number32(6) + Number32(4)));  // without text
  EXPECT_STREQ(replies[0].failure->what(), "open /a: no such file or directory (text)");
  EXPECT_TRUE(replies[1].Is(FileErrorCode::kPermissionDenied));
  EXPECT_TRUE(replies[2].Is(FileErrorCode::kUnsupported));
  EXPECT_TRUE(replies[3].Is(FileErrorCode::kFailure));
  EXPECT_EQ(replies[4].As<guest::FileAttributes>().size, 4U);
  EXPECT_TRUE(replies[5].Is(FileErrorCode::kFailure));
}

TEST_F(BurstTest, TheServersTextIsCutAndPrintable) {
  const auto shown = [this](const std::string& words) {
    const std::string reply = Packet(101, Number32(1) + Number32(4) + String(words) + String(""));
    return Replies({Request::Open("/f")}, reply).front().failure.value().detail();
  };
  EXPECT_EQ(shown("\x1b[2J" + std::string(100'000, 'w')),
            "\\x1b[2J" + std::string(kMaxServerText - 4, 'w'));
  EXPECT_EQ(shown("Failure"), "");
}

TEST_F(BurstTest, ExtensionsThatAreNotOfferedAreNeverSent) {
  const auto burst = Begin({Request::Rename("/a", "/b"), Request::Sync(kOpenFile),
                            Request::StatFileSystem("/"), Request::LStat("/")});
  EXPECT_EQ(TakeOutput(), PathRequest(7, 1, "/")) << "never a removal instead";
  Receive(Attributes(1, 4));
  const auto replies = Replies(*burst);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(replies[i].Is(FileErrorCode::kUnsupported));
  EXPECT_FALSE(replies[3].failure);
  EXPECT_TRUE(Begin({Request::Sync(kOpenFile)})->finished()) << "nothing is waited for";
}

TEST_F(BurstTest, PathsThatCannotExistAreRefused) {
  auto replies =
      Replies({Request::RealPath("/p"), Request::ReadLink("/p"), Request::RealPath("/p")},
              Names(1, 1, Name("/a/../b")) + Names(2, 1, Name("")) + Names(3, 1, Name("/a")));
  EXPECT_TRUE(replies[0].Is(FileErrorCode::kFailure));
  EXPECT_TRUE(replies[1].Is(FileErrorCode::kFailure));
  EXPECT_EQ(replies[2].As<std::string>(), "/a");
}

TEST_F(BurstTest, TheEndOfTheNamesIsAnEmptyList) {
  auto replies = Replies({Request::ReadDirectory(kOpenFile), Request::ReadDirectory(kOpenFile)},
                         Names(1, 2, Name(".") + Name("a")) + Status(2, kEndOfFile));
  EXPECT_EQ(replies[0].As<std::vector<guest::DirectoryEntry>>().size(), 2U);
  EXPECT_TRUE(replies[1].As<std::vector<guest::DirectoryEntry>>().empty());
}

TEST_F(BurstTest, AHandleOfAFailedBurstIsClosed) {
  auto burst = Begin({Request::Open("/a"), Request::Open("/b")});
  TakeOutput();
  Receive(Handle(1, "early"));
  burst->Fail(MakeFailure<support::Stopped>(support::StopReason::kCancelled));
  EXPECT_EQ(TakeOutput(), PathRequest(4, 3, "early"));
  EXPECT_THROW(Wait(*burst), support::Stopped);
  burst.reset();
  Receive(Handle(2, "late"));
  EXPECT_EQ(TakeOutput(), PathRequest(4, 4, "late"));
}

TEST_F(BurstTest, ALostBurstMayHaveRunOnlyIfAChangeWasSent) {
  const std::string bytes(2 * std::size_t{kPiece}, 'x');
  using Case = std::tuple<std::vector<guest::Request>, std::string, bool, bool>;
  for (const auto& [requests, received, sent, may_have_run] : std::vector<Case>{
           {{Request::LStat("/"), Request::Read(kOpenFile, 0, 1), Request::Close(kOpenFile)},
            "",
            true,
            false},
           {{Request::Close(kWritten)}, "", true, true},
           {{Request::Unlink("/a")}, "", false, false},
           {{Request::Unlink("/a")}, "", true, true},
           {{Request::LStat("/"), Request::Unlink("/a")}, Attributes(1, 4), true, true},
           {{Request::Unlink("/a"), Request::LStat("/")}, Status(1, 0), true, true},
           {{Request::Unlink("/a"), Request::LStat("/")}, Status(1, kDenied), true, false},
           {{Request::Write(kOpenFile, 0, bytes), Request::StatOpen(kOpenFile)},
            Status(1, 4) + Status(2, 0),
            true,
            true}}) {
    Converse(Version());
    const auto burst = Begin(requests);
    if (sent) TakeOutput();
    Receive(received);
    channel_->FailAll("gone");
    EXPECT_EQ(MayHaveRun(*burst), may_have_run)
        << burst->Describe() << ", sent: " << sent << ", received: " << received.size();
  }
}

using SftpChannelTest = BurstTest;

TEST_F(SftpChannelTest, IsReadyWhenTheServerHasIntroducedItself) {
  channel_.emplace(broker_, 1);
  EXPECT_EQ(channel_->output(), Packet(1, Number32(3)));
  EXPECT_FALSE(channel_->ready());
  EXPECT_EQ(channel_->silent_since(), TimePoint::max());
  channel_->OnRequested();
  EXPECT_LE(channel_->silent_since(), support::Clock::now());
  Receive(Version());
  EXPECT_TRUE(channel_->ready());
}

TEST_F(SftpChannelTest, RequestsLimitsAndKeepsThemWithinBounds) {
  for (const auto& [stated, used] : std::vector<std::pair<std::uint64_t, std::uint32_t>>{
           {0, 32 * 1024}, {1, 4096}, {100'000, 100'000}, {1ULL << 40U, 261'120}}) {
    Converse(OpenSshVersion());
    EXPECT_FALSE(channel_->ready());
    Receive(
        Packet(201, Number32(1) + Number64(1) + Number64(stated) + Number64(stated) + Number64(0)));
    EXPECT_TRUE(channel_->ready());
    EXPECT_EQ(channel_->max_data(), used);
  }
}

TEST_F(SftpChannelTest, RefusesAnOlderVersion) {
  EXPECT_THROW(Converse(Packet(2, Number32(2))), SftpProtocolError);
}

TEST_F(SftpChannelTest, AReplyWithoutARequestEndsTheConversation) {
  const auto burst = Begin({Request::LStat("/")});
  EXPECT_THROW(Receive(Status(1, 0) + Status(1, 0)), SftpProtocolError);
  EXPECT_TRUE(burst->finished());
}

TEST_F(SftpChannelTest, FailureSaysWhichRequestsMayHaveRun) {
  const auto sent = Begin({Request::Unlink("/")});
  const std::size_t length = channel_->output().size();
  const auto kept = Begin({Request::Unlink("/")});
  channel_->Consumed(length + 1);  // one byte of the second is not a request
  channel_->FailAll("gone");
  EXPECT_TRUE(MayHaveRun(*sent));
  EXPECT_FALSE(MayHaveRun(*kept));
}

TEST_F(SftpChannelTest, GivenUpItFailsWhatHangsForGoodAndTheRestAsLost) {
  const auto oldest = Begin({Request::Open("/fifo")});
  const auto read = Begin({Request::LStat("/")});
  const auto change = Begin({Request::Unlink("/")});
  TakeOutput();
  channel_->GiveUp();
  EXPECT_THAT([&] { Wait(*oldest); },
              ThrowsMessage<support::Error>(
                  HasSubstr("open /fifo: the guest's SFTP server does not answer; call")));
  EXPECT_FALSE(MayHaveRun(*read)) << "it is repeated";
  EXPECT_TRUE(MayHaveRun(*change));
  EXPECT_TRUE(channel_->closed());

  Converse(Version());
  const auto first = Begin({Request::Unlink("/")});
  TakeOutput();
  channel_->GiveUp();
  EXPECT_TRUE(MayHaveRun(*first));
}

TEST_F(SftpChannelTest, SilenceCountsOnlyWhileTheServerOwesAReply) {
  EXPECT_EQ(channel_->silent_since(), TimePoint::max());
  Begin({Request::LStat("/")}, now_ + 100s);
  Begin({Request::LStat("/")}, now_ + 110s);
  EXPECT_EQ(channel_->silent_since(), now_ + 100s);
  channel_->Receive(Status(1, 0), now_ + 120s);
  EXPECT_EQ(channel_->silent_since(), now_ + 120s);
}

TEST_F(SftpChannelTest, ARequestLongerThanAPacketIsRefusedWithoutTheServer) {
  const std::size_t longest = kMaxSftpPacket - 9;  // type, id and the path's own length
  EXPECT_FALSE(Begin({Request::LStat(std::string(longest, 'p'))})->finished());
  EXPECT_EQ(TakeOutput().size(), kMaxSftpPacket + 4);
  const auto refused = Begin({Request::LStat(std::string(longest + 1, 'p'))});
  EXPECT_TRUE(Replies(*refused).front().Is(FileErrorCode::kFailure));
  EXPECT_EQ(TakeOutput(), "");
}

}  // namespace
}  // namespace ssh
