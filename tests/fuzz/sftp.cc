// Arbitrary bytes from an SFTP server.

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/input.h"
#include "ssh/sftp/sftp_client.h"
#include "ssh/sftp/sftp_codec.h"

namespace {

std::string Describe(const ssh::SftpReply& reply) {
  std::string text = std::to_string(reply.index());
  if (const auto* status = std::get_if<ssh::SftpStatus>(&reply)) text += status->message;
  if (const auto* handle = std::get_if<ssh::SftpHandle>(&reply)) text += handle->handle;
  if (const auto* bytes = std::get_if<ssh::SftpData>(&reply)) text += bytes->bytes;
  if (const auto* names = std::get_if<ssh::SftpNames>(&reply)) {
    for (const guest::DirectoryEntry& entry : names->entries) {
      text += entry.name + "/";
    }
  }
  if (const auto* extended = std::get_if<ssh::SftpExtendedReply>(&reply)) {
    try {
      static_cast<void>(ssh::DecodeLimits(extended->body));
      static_cast<void>(ssh::DecodeFileSystemStatus(extended->body));
    } catch (const ssh::SftpProtocolError&) {
      text += "?";
    }
  }
  return text;
}

std::vector<std::string> Talk(std::string_view bytes, std::size_t piece) {
  const ssh::SftpClient::TimePoint now{};
  ssh::SftpClient client(now);
  std::vector<std::string> replies;
  int sent = 0;
  int answered = 0;
  const auto send = [&] {
    for (int i = 0; i < 3; ++i) {
      client.Send(ssh::MakeRequest(guest::request::Stat{"/path"}), now,
                  [&](ssh::SftpReply&& reply) {
                    ++answered;
                    replies.push_back(Describe(reply));
                  });
      ++sent;
    }
  };
  try {
    while (!bytes.empty()) {
      client.Receive(bytes.substr(0, piece), now);
      bytes.remove_prefix(std::min(piece, bytes.size()));
      client.Consumed(client.output().size());
      if (client.ready() && client.pending() < 3) send();
    }
  } catch (const ssh::SftpProtocolError& error) {
    fuzz::Require(error.what()[0] != '\0', "an error says what is wrong");
  }
  client.Fail("over");
  fuzz::Require(sent == answered, "each request is answered once");
  return replies;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.Byte();
  const std::string_view bytes = input.Rest();
  static_cast<void>(Talk(bytes, piece));
  // Without VERSION: straight to the decoder.
  ssh::SftpDecoder decoder;
  decoder.Append(bytes);
  try {
    while (const auto packet = decoder.Next()) static_cast<void>(Describe(packet->reply));
  } catch (const ssh::SftpProtocolError&) {
    return 0;
  }
  fuzz::Require(decoder.rest().size() <= ssh::kMaximumSftpPacket + 4 || bytes.size() < 4,
                "no more than one packet is kept");
  return 0;
}
