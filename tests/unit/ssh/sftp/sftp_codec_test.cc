#include "ssh/sftp/sftp_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "unit/ssh/sftp/sftp_bytes.h"

namespace ssh {
namespace {

using namespace sftp_bytes;
using ::testing::HasSubstr;

using guest::Request;

const guest::Handle kFile{"h", 1, "/a"};

std::string Encoded(std::uint32_t id, const Request& request) {
  std::string out;
  EXPECT_TRUE(AppendRequest(out, id, request));
  return out;
}

guest::Reply Decoded(const Request& request, const std::string& bytes) {
  SftpDecoder decoder;
  decoder.Append(bytes);
  return DecodeReply(request, decoder.Next().value(), 1);
}

TEST(SftpEncoding, InitAsksForVersionThree) {
  EXPECT_EQ(InitPacket(), Packet(1, Number32(3)));
}

// BurstTest has the others.
TEST(SftpEncoding, RequestsAreWhatTheDraftSays) {
  EXPECT_EQ(Encoded(8, Request::Open("/a", guest::OpenMode::kRead, 0600)),
            Packet(3, Number32(8) + String("/a") + Number32(1) + Number32(0)));
  EXPECT_EQ(Encoded(9, Request::Open("/a", guest::OpenMode::kCreateExclusive, 0600)),
            Packet(3, Number32(9) + String("/a") + Number32(0x2A) + Number32(4) + Number32(0600)));
  EXPECT_EQ(Encoded(1, Request::Read(kFile, 1ULL << 40U, 99)),
            Packet(5, Number32(1) + String("h") + Number64(1ULL << 40U) + Number32(99)));
  EXPECT_EQ(Encoded(1, Request::SetAttributes(kFile, {.permissions = 0644, .size = 3})),
            Packet(10, Number32(1) + String("h") + Number32(5) + Number64(3) + Number32(0644)));
}

TEST(SftpDecoding, ReadsAttributesWithEveryField) {
  const std::string attributes = Number32(0x8000000FU) + Number64(1234) + Number32(501) +
                                 Number32(20) + Number32(0104755) + Number32(1) + Number32(1700) +
                                 Number32(1) + String("name") + String("value");
  guest::Reply reply = Decoded(Request::Stat("/a"), Packet(105, Number32(3) + attributes));
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

TEST(SftpDecoding, AStatusWithoutTextIsTaken) {
  EXPECT_TRUE(Decoded(Request::Stat("/a"), Packet(101, Number32(1) + Number32(4)))
                  .Is(guest::FileErrorCode::kFailure));
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
           {Request::Stat("/a"),
            Packet(105, Number32(1) + Number32(0x80000000U) + Number32(0xFFFFFFFFU))},
           {Request::StatFileSystem("/a"), Packet(201, Number32(1) + Number64(1))},
           {Request::Stat("/a"), Packet(101, Number32(1))},
           {Request::Stat("/a"), Packet(101, "\1")}}) {
    EXPECT_THROW(Decoded(request, packet), SftpProtocolError);
  }
  EXPECT_THROW(DecodeLimits({SftpType::kExtendedReply, 1, "short"}), SftpProtocolError);
}

TEST(SftpDecoding, TextOfALoginProfileIsNamed) {
  SftpDecoder decoder;
  decoder.Append("Last login: today\x1b[31m\n");
  try {
    decoder.NextVersion();
    FAIL();
  } catch (const SftpProtocolError& error) {
    EXPECT_THAT(error.what(), HasSubstr("login profile prints text"));
    EXPECT_THAT(error.what(), HasSubstr("\"Last login: today\\x1b[31m\""));
  }
}

guest::FileSystemStatus FileSystemStatus(const std::string& body) {
  return Decoded(Request::StatFileSystem("/a"), Packet(201, Number32(1) + body))
      .As<guest::FileSystemStatus>();
}

TEST(SftpDecoding, FileSystemStatusDoesNotOverflow) {
  const auto body = [](std::uint64_t fragment, std::uint64_t available, std::uint64_t flags) {
    return Number64(4096) + Number64(fragment) + Number64(1) + Number64(1) + Number64(available) +
           Number64(1) + Number64(1) + Number64(1) + Number64(1) + Number64(flags) + Number64(255);
  };
  EXPECT_EQ(FileSystemStatus(body(4096, 10, 0)).free_bytes, 40960U);
  EXPECT_FALSE(FileSystemStatus(body(4096, 10, 2)).read_only);
  EXPECT_TRUE(FileSystemStatus(body(4096, 10, 3)).read_only);
  EXPECT_EQ(FileSystemStatus(body(4096, UINT64_MAX, 0)).free_bytes, UINT64_MAX);
}

TEST(SftpDecoding, FileSystemStatusHasTheIdentityOfTheFileSystem) {
  std::string body;
  for (std::uint64_t number = 1; number <= 11; ++number) body += Number64(number);
  const guest::FileSystemStatus status = FileSystemStatus(body);
  EXPECT_EQ(status.block_size, 1U);
  EXPECT_EQ(status.blocks, 3U);
  EXPECT_EQ(status.id, 9U);
  EXPECT_EQ(status.maximum_name, 11U);
}

}  // namespace
}  // namespace ssh
