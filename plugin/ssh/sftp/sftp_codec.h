#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "guest/guest.h"

/// Codec for SFTP version 3 (draft-ietf-secsh-filexfer-02) and OpenSSH's extensions (its PROTOCOL
/// file, section 4). Encodes requests and decodes replies; does no I/O.
namespace ssh {

inline constexpr std::uint32_t kSftpVersion = 3;

/// Longest packet without its length field, as in OpenSSH (SFTP_MAX_MSG_LENGTH, sftp-common.h).
inline constexpr std::size_t kMaximumSftpPacket = std::size_t{256} * 1024;

/// Most data in one READ or WRITE. OpenSSH's server exits on a longer packet.
inline constexpr std::size_t kMaximumSftpData = kMaximumSftpPacket - 1024;

inline constexpr std::string_view kLimitsExtension = "limits@openssh.com";

enum class SftpStatusCode : std::uint32_t {
  kOk = 0,
  kEndOfFile = 1,
  kNoSuchFile = 2,
  kPermissionDenied = 3,
  kFailure = 4,
  kUnsupported = 8,
};

struct SftpStatus {
  SftpStatusCode code = SftpStatusCode::kOk;
  std::string message;  ///< from the server; may be empty
};
struct SftpHandle {
  std::string handle;
};
struct SftpData {
  std::string_view bytes;  ///< valid until the decoder is used again
};
struct SftpNames {
  std::vector<guest::DirectoryEntry> entries;
};
struct SftpExtendedReply {
  std::string body;
};
/// There will be no reply to the request.
struct SftpLost {
  std::string reason;
  bool may_have_run = false;
};
using SftpReply = std::variant<SftpStatus, SftpHandle, SftpData, SftpNames, guest::FileAttributes,
                               SftpExtendedReply, SftpLost>;
/// The indexes of SftpReply.
enum : std::size_t { kStatus, kHandle, kData, kNames, kAttributes, kExtendedReply };

/// A request without its id.
struct SftpRequest {
  const char* operation = "";       ///< "open", for error messages
  std::uint8_t type = 0;            ///< SSH_FXP_STAT, …
  std::size_t wanted = 0;           ///< index in SftpReply of the expected reply
  std::string body;                 ///< follows the id
  std::string_view tail = {};       ///< follows the body; must live until the request is encoded
  std::string_view extension = {};  ///< the server must offer it
  /// It may change the guest's files, so it must not be retried if the reply is lost.
  bool changes_guest = false;
};

/// Encodes a whole guest::Request. Does not split it (see kMaximumSftpData) and does not copy the
/// bytes of a Write.
SftpRequest MakeRequest(const guest::Request& request);
SftpRequest LimitsRequest();

/// INIT, the only packet without an id.
std::string InitPacket();

/// The length of its packet without the length field.
std::size_t LengthOf(const SftpRequest& request);

/// Appends a whole packet.
void AppendRequest(std::string& out, std::uint32_t id, const SftpRequest& request);

struct SftpPacket {
  std::uint32_t id = 0;
  SftpReply reply;
};

struct SftpVersion {
  std::uint32_t version = 0;
  std::map<std::string, std::string, std::less<>> extensions;
};

/// The server violated the protocol.
class SftpProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Splits a byte stream into replies. Keeps at most one incomplete packet and the last bytes
/// appended.
class SftpDecoder {
 public:
  void Append(std::string_view bytes);

  /// The first packet of a connection; nullopt while it is incomplete. Throws SftpProtocolError,
  /// which names the login profile if that seems to have printed the bytes.
  std::optional<SftpVersion> NextVersion();

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

/// From the reply to limits@openssh.com, in bytes of data; 0 for no limit.
struct SftpLimits {
  std::uint64_t read_length = 0;
  std::uint64_t write_length = 0;
};

/// The body of the reply to limits@openssh.com. Throws SftpProtocolError.
SftpLimits DecodeLimits(std::string_view body);

/// The body of the reply to statvfs@openssh.com. Throws SftpProtocolError.
guest::FileSystemStatus DecodeFileSystemStatus(std::string_view body);

}  // namespace ssh
