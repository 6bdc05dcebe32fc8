#pragma once

#include <cstdint>

/// Numbers of the SFTP protocol that requests and replies share (draft-ietf-secsh-filexfer-02).
namespace ssh {

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
  kStat = 17,
  kReadLink = 19,
  kStatus = 101,
  kHandle = 102,
  kData = 103,
  kName = 104,
  kAttributes = 105,
  kExtended = 200,
  kExtendedReply = 201,
};

inline constexpr std::uint32_t kSftpAttributeSize = 0x01;
inline constexpr std::uint32_t kSftpAttributeOwner = 0x02;
inline constexpr std::uint32_t kSftpAttributePermissions = 0x04;
inline constexpr std::uint32_t kSftpAttributeTimes = 0x08;
inline constexpr std::uint32_t kSftpAttributeExtended = 0x80000000U;

}  // namespace ssh
