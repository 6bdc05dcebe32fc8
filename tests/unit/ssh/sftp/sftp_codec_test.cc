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
  try {
    decoder.NextVersion();
    FAIL();
  } catch (const SftpProtocolError& error) {
    EXPECT_THAT(error.what(), HasSubstr("login profile prints text"));
    EXPECT_THAT(error.what(), HasSubstr("\"Last login: today\\x1b[31m\""));
  }
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
  EXPECT_EQ(status(10, 2).id, 9U);
  EXPECT_EQ(status(10, 2).maximum_name, 11U);
  EXPECT_EQ(status(10, 2).free_bytes, 20U);
  EXPECT_EQ(status(UINT64_MAX, 2).free_bytes, UINT64_MAX);
  EXPECT_FALSE(status(10, 2).read_only);
  EXPECT_TRUE(status(10, 3).read_only);
}

}  // namespace
}  // namespace ssh
