// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes from an SFTP server.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/input.h"
#include "ssh/sftp/sftp_codec.h"
#include "ssh/sftp/sftp_service.h"

namespace {

constexpr std::size_t kOperations = static_cast<std::size_t>(guest::Operation::kReadDirectory) + 1;

guest::Request MakeRequest(std::size_t operation) {
  return {.operation = static_cast<guest::Operation>(operation), .path = "/path", .length = 100};
}

/// Reads all of the reply.
std::string Describe(const guest::Reply& reply) {
  std::string text = std::to_string(reply.value.index());
  if (reply.failure) text += reply.failure->what();
  if (const auto* handle = std::get_if<guest::Handle>(&reply.value)) text += handle->value;
  if (const auto* bytes = std::get_if<std::string>(&reply.value)) text += *bytes;
  if (const auto* names = std::get_if<std::vector<guest::DirectoryEntry>>(&reply.value)) {
    for (const guest::DirectoryEntry& entry : *names) text += entry.name + "/";
  }
  return text;
}

void Talk(std::string_view bytes, std::size_t piece) {
  const ssh::TimePoint now{};
  ssh::ChannelBroker broker(
      nullptr, [] { return false; }, [] { return ""; });
  ssh::SftpChannel channel(broker, 1);
  std::vector<std::shared_ptr<ssh::Burst>> bursts;
  try {
    while (!bytes.empty()) {
      channel.Receive(bytes.substr(0, piece), now);
      bytes.remove_prefix(std::min(piece, bytes.size()));
      channel.Consumed(channel.output().size());
      if (!channel.ready() || channel.pending() >= 3) continue;
      for (int i = 0; i < 3; ++i) {
        bursts.push_back(
            std::make_shared<ssh::Burst>(std::vector{MakeRequest(bursts.size() % kOperations)}));
        bursts.back()->Begin(channel, now);
      }
    }
  } catch (const ssh::SftpProtocolError& error) {
    fuzz::Require(error.what()[0] != '\0', "an error says what is wrong");
  }
  channel.FailAll("over");
  for (const auto& burst : bursts) {
    fuzz::Require(burst->finished(), "each request has a reply or is lost");
    for (const guest::Reply& reply : burst->TakeReplies()) static_cast<void>(Describe(reply));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.Byte();
  const std::string_view bytes = input.Rest();
  Talk(bytes, piece);
  // Without VERSION: straight to the decoder.
  ssh::SftpDecoder decoder;
  decoder.Append(bytes);
  try {
    while (const auto packet = decoder.Next()) {
      for (std::size_t operation = 0; operation < kOperations; ++operation) {
        const guest::Request request = MakeRequest(operation);
        try {
          static_cast<void>(Describe(ssh::DecodeReply(request, *packet, 1)));
        } catch (const ssh::SftpProtocolError& error) {
          fuzz::Require(error.what()[0] != '\0', "an error says what is wrong");
        }
      }
    }
  } catch (const ssh::SftpProtocolError&) {
    return 0;
  }
  fuzz::Require(decoder.rest().size() <= ssh::kMaxSftpPacket + 4 || bytes.size() < 4,
                "no more than one packet is kept");
  return 0;
}
