#include "ssh/sftp/sftp_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "unit/ssh/sftp/sftp_bytes.h"

namespace ssh {
namespace {

using namespace sftp_bytes;
namespace request = guest::request;
using ::testing::HasSubstr;

std::string Encoded(std::uint32_t id, const guest::Request& request) {
  std::string out;
  AppendRequest(out, id, MakeRequest(request));
  return out;
}

SftpPacket Decoded(const std::string& bytes) {
  SftpDecoder decoder;
  decoder.Append(bytes);
  return decoder.Next().value();
}

TEST(SftpEncoding, InitAsksForVersionThree) {
  EXPECT_EQ(InitPacket(), Packet(1, Number32(3)));
}

// BurstTest has the others.
TEST(SftpEncoding, RequestsAreWhatTheDraftSays) {
  const guest::Handle handle{"h", 1, "/a"};
  EXPECT_EQ(Encoded(8, request::Open{"/a", guest::OpenMode::kRead, 0600}),
            Packet(3, Number32(8) + String("/a") + Number32(1) + Number32(0)));
  EXPECT_EQ(Encoded(9, request::Open{"/a", guest::OpenMode::kCreateExclusive, 0600}),
            Packet(3, Number32(9) + String("/a") + Number32(0x2A) + Number32(4) + Number32(0600)));
  EXPECT_EQ(Encoded(1, request::Read{handle, 1ULL << 40U, 99}),
            Packet(5, Number32(1) + String("h") + Number64(1ULL << 40U) + Number32(99)));
  EXPECT_EQ(Encoded(1, request::SetAttributes{handle, {.permissions = 0644, .size = 3}}),
            Packet(10, Number32(1) + String("h") + Number32(5) + Number64(3) + Number32(0644)));
}

TEST(SftpDecoding, ReadsAttributesWithEveryField) {
  const std::string attributes = Number32(0x8000000FU) + Number64(1234) + Number32(501) +
                                 Number32(20) + Number32(0104755) + Number32(1) + Number32(1700) +
                                 Number32(1) + String("name") + String("value");
  const SftpPacket packet = Decoded(Packet(105, Number32(3) + attributes));
  EXPECT_EQ(packet.id, 3U);
  const auto& read = std::get<guest::FileAttributes>(packet.reply);
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
  std::optional<SftpVersion> version;
  std::vector<SftpPacket> packets;
  for (const char byte : bytes) {
    decoder.Append(std::string_view(&byte, 1));
    if (!version) {
      version = decoder.NextVersion();
    } else if (std::optional<SftpPacket> packet = decoder.Next()) {
      packets.push_back(*std::move(packet));
    }
  }
  ASSERT_TRUE(version);
  EXPECT_EQ(version->extensions.at("limits@openssh.com"), "1");
  ASSERT_EQ(packets.size(), 2U);
  EXPECT_EQ(std::get<SftpStatus>(packets[0].reply).code, SftpStatusCode::kNoSuchFile);
  EXPECT_EQ(packets[1].id, 2U);
}

TEST(SftpDecoding, AStatusWithoutTextIsTaken) {
  EXPECT_EQ(std::get<SftpStatus>(Decoded(Packet(101, Number32(1) + Number32(4))).reply).code,
            SftpStatusCode::kFailure);
}

TEST(SftpDecoding, APacketOfTheGreatestLengthIsTakenAndALongerOneIsNot) {
  const std::string data(kMaximumSftpPacket - 9, 'x');
  EXPECT_EQ(std::get<SftpData>(Decoded(Data(1, data)).reply).bytes.size(), data.size());
  SftpDecoder decoder;
  decoder.Append(Number32(kMaximumSftpPacket + 1));
  EXPECT_THROW(decoder.Next(), SftpProtocolError);
  SftpDecoder empty;
  empty.Append(Number32(0));
  EXPECT_THROW(empty.Next(), SftpProtocolError);
}

TEST(SftpDecoding, FieldsThatReachBeyondThePacketAreRefused) {
  for (const std::string& packet :
       {Packet(103, Number32(1) + Number32(100) + "short"),
        Packet(103, Number32(1) + Number32(0xFFFFFFFFU)), Packet(102, Number32(1)),
        Packet(104, Number32(1) + Number32(0xFFFFFFFFU) + Name("a")),
        Packet(105, Number32(1) + Number32(0x80000000U) + Number32(0xFFFFFFFFU)),
        Packet(101, "\1")}) {
    EXPECT_THROW(Decoded(packet), SftpProtocolError);
  }
  EXPECT_THROW(Decoded(Packet(99, Number32(1))), SftpProtocolError) << "unknown type";
  EXPECT_THROW(DecodeLimits("short"), SftpProtocolError);
  EXPECT_THROW(DecodeFileSystemStatus(""), SftpProtocolError);
}

TEST(SftpDecoding, NoBytesAreReadOutsideThePackets) {
  // Under AddressSanitizer this is a small fuzzer with a fixed seed.
  std::mt19937 random(1);
  const std::string valid = Packet(104, Number32(1) + Number32(2) + Name("a") + Name("b")) +
                            Status(2, 1) + Data(3, "bytes") + Handle(4, "h");
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = valid;
    for (int change = 0; change < 3; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    SftpDecoder decoder;
    decoder.Append(bytes);
    try {
      while (decoder.Next()) {
      }
    } catch (const SftpProtocolError&) {
      continue;
    }
  }
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

TEST(SftpDecoding, FileSystemStatusDoesNotOverflow) {
  const auto body = [](std::uint64_t fragment, std::uint64_t available, std::uint64_t flags) {
    return Number64(4096) + Number64(fragment) + Number64(1) + Number64(1) + Number64(available) +
           Number64(1) + Number64(1) + Number64(1) + Number64(1) + Number64(flags) + Number64(255);
  };
  EXPECT_EQ(DecodeFileSystemStatus(body(4096, 10, 0)).free_bytes, 40960U);
  EXPECT_FALSE(DecodeFileSystemStatus(body(4096, 10, 2)).read_only);
  EXPECT_TRUE(DecodeFileSystemStatus(body(4096, 10, 3)).read_only);
  EXPECT_EQ(DecodeFileSystemStatus(body(4096, UINT64_MAX, 0)).free_bytes, UINT64_MAX);
}

TEST(SftpDecoding, FileSystemStatusHasTheIdentityOfTheFileSystem) {
  std::string body;
  for (std::uint64_t number = 1; number <= 11; ++number) body += Number64(number);
  const guest::FileSystemStatus status = DecodeFileSystemStatus(body);
  EXPECT_EQ(status.block_size, 1U);
  EXPECT_EQ(status.blocks, 3U);
  EXPECT_EQ(status.id, 9U);
  EXPECT_EQ(status.maximum_name, 11U);
}

}  // namespace
}  // namespace ssh
