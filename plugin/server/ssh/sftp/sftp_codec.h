// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "guest/guest.h"

/// Codec for SFTP version 3 (draft-ietf-secsh-filexfer-02) and OpenSSH's extensions (its PROTOCOL
/// file, section 4). Encodes requests and decodes replies; does no I/O.
namespace ssh {

/// Longest packet without its length field, as in OpenSSH (SFTP_MAX_MSG_LENGTH, sftp-common.h).
inline constexpr std::size_t kMaxSftpPacket = std::size_t{256} * 1024;

/// Most data in one READ or WRITE. OpenSSH's server exits on a longer packet.
inline constexpr std::size_t kMaxSftpData = kMaxSftpPacket - 1024;

/// The same without limits@openssh.com: every server must accept packets of 34,000 bytes
/// (draft-ietf-secsh-filexfer-02, section 3).
inline constexpr std::size_t kDefaultSftpData = std::size_t{32} * 1024;

/// Most bytes of a server's message that are quoted in an error.
inline constexpr std::size_t kMaxServerText = 256;

inline constexpr std::string_view kLimitsExtension = "limits@openssh.com";

enum class SftpType : std::uint8_t {
  kInit = 1,
  kVersion = 2,
  kOpen = 3,
  kClose = 4,
  kRead = 5,
  kWrite = 6,
  kLStat = 7,
  kFStat = 8,
  kFSetStat = 10,
  kOpenDirectory = 11,
  kReadDirectory = 12,
  kRemove = 13,
  kMakeDirectory = 14,
  kRealPath = 16,
  kReadLink = 19,
  kStatus = 101,
  kHandle = 102,
  kData = 103,
  kName = 104,
  kAttributes = 105,
  kExtended = 200,
  kExtendedReply = 201,
};

/// All that is known of an operation.
struct SftpOperation {
  const char* name;  ///< for messages
  SftpType type;
  /// What is written, in this order: p path, t the second path, h handle, f flags of OPEN,
  /// a attributes, o offset, l length, b bytes.
  std::string_view fields;
  SftpType reply;  ///< that is not an error
  bool changes_guest = false;
  std::string_view extension = {};  ///< that the server must offer; may be empty
};

const SftpOperation& Find(guest::Operation operation);

/// "open /a", for messages.
std::string Describe(const guest::Request& request);

/// It may change the guest's files, so it must not be retried if the reply is lost.
bool ChangesGuest(const guest::Request& request);

/// A reply that was made here.
guest::Reply Failed(const guest::Request& request, guest::FileErrorCode code,
                    const std::string& detail);

/// INIT, the only packet without an id.
std::string InitPacket();

std::string LimitsPacket(std::uint32_t id);

/// Appends a packet. Does not split the request (see kMaxSftpData). Returns false, and appends
/// nothing, if the packet is longer than kMaxSftpPacket.
bool AppendRequest(std::string& out, std::uint32_t id, const guest::Request& request);

struct SftpPacket {
  SftpType type{};
  std::uint32_t id = 0;
  std::string_view body;  ///< valid until the decoder is used again
};

/// The names of extensions.
using SftpExtensions = std::set<std::string, std::less<>>;

/// The server violated the protocol.
class SftpProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Splits a byte stream into packets. Keeps at most one incomplete packet and the last bytes
/// appended.
class SftpDecoder {
 public:
  void Append(std::string_view bytes);

  /// What VERSION offers, the first packet of a connection; nullopt while it is incomplete. Throws
  /// SftpProtocolError, which names the login profile if that seems to have printed the bytes.
  std::optional<SftpExtensions> NextVersion();

  /// The next reply; nullopt while it is incomplete. Throws SftpProtocolError.
  std::optional<SftpPacket> Next();

  /// Bytes that are not part of a complete packet yet.
  [[nodiscard]] std::string_view rest() const {
    return std::string_view(buffer_).substr(position_);
  }

 private:
  std::optional<std::string_view> NextPacket();

  std::string buffer_;
  std::size_t position_ = 0;
};

/// The reply to `request`. `channel` is stored in the handle that it opens. A wrong kind of reply,
/// a wrong amount of data and an invalid path are failures. Throws SftpProtocolError if a field is
/// incomplete.
guest::Reply DecodeReply(const guest::Request& request, const SftpPacket& packet,
                         std::uint64_t channel);

/// The bytes of data that the server accepts in one READ and WRITE, from its reply to LimitsPacket;
/// 0 if it names no limit. Throws SftpProtocolError.
std::uint64_t DecodeLimits(const SftpPacket& packet);

}  // namespace ssh
