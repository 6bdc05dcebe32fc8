// SPDX-License-Identifier: Apache-2.0
// The line reader and the message parser, with any input cut into pieces of any size.

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuzz/input.h"
#include "mcp/lines.h"
#include "mcp/message.h"
#include "mcp/protocol.h"
#include "support/file_descriptor.h"

namespace {

/// A pipe takes this much without a reader.
constexpr std::size_t kMaxInput = std::size_t{32} * 1024;

constexpr std::size_t kMaxLine = 4096;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    fuzz::Require(::pipe(ends.data()) == 0, "a pipe can be made");
    read = support::FileDescriptor(ends[0]);
    write = support::FileDescriptor(ends[1]);
  }
  support::FileDescriptor read;
  support::FileDescriptor write;
};

/// The lines of `text` when it arrives in pieces of `piece` bytes; "\n" for one that is too long.
std::vector<std::string> LinesOf(std::string_view text, std::size_t piece) {
  Pipe pipe;
  mcp::LineReader reader(pipe.read.get(), kMaxLine);
  std::vector<std::string> lines;
  std::string line;
  while (true) {
    switch (reader.Next(line)) {
      case mcp::LineReader::Result::kLine:
        lines.push_back(line);
        break;
      case mcp::LineReader::Result::kTooLong:
        lines.emplace_back("\n");
        break;
      case mcp::LineReader::Result::kNeedMore: {
        const std::string_view next = text.substr(0, piece);
        text.remove_prefix(next.size());
        if (next.empty()) {
          pipe.write = support::FileDescriptor();
        } else {
          fuzz::Require(::write(pipe.write.get(), next.data(), next.size()) ==
                            static_cast<ssize_t>(next.size()),
                        "the pipe takes all");
        }
        reader.Fill();
        break;
      }
      case mcp::LineReader::Result::kEndOfInput:
        return lines;
    }
  }
}

/// Every parser of parameters throws nothing but a ProtocolError.
template <typename Parse>
void TryParser(Parse parse) {
  try {
    parse();
  } catch (const mcp::ProtocolError& error) {
    const auto response = nlohmann::json::parse("{" + mcp::ErrorMember(error) + "}");
    fuzz::Require(response.contains("error"), "an error can be answered");
  }
}

void Check(const mcp::Message& message) {
  fuzz::Require(message.params.is_object(), "params are an object");
  if (message.id) {
    const auto id = nlohmann::json::parse(*message.id);
    fuzz::Require(id.is_string() || id.is_number(), "an id is a string or a number");
  }
  if (message.error) {
    const std::string text = "{" + mcp::ErrorMember(*message.error) + "}";
    fuzz::Require(nlohmann::json::parse(text).is_object(), "an error is JSON");
    fuzz::Require(text.find('\n') == std::string::npos, "an answer is one line");
  } else if (message.id) {
    TryParser([&] { return mcp::ParseInitialize(message.params); });
    TryParser([&] { mcp::CheckModernMeta(message.params); });
    TryParser([&] { mcp::CheckCursor(message.params); });
    TryParser([&] { return mcp::ParseCallTool(message.params); });
    TryParser([&] { mcp::CheckListen(message.params); });
  } else {
    static_cast<void>(mcp::ParseCancelled(message.params));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMaxInput) return 0;
  fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.Byte();
  const std::string_view text = input.Rest();
  const std::vector<std::string> lines = LinesOf(text, piece);
  fuzz::Require(lines == LinesOf(text, kMaxInput), "pieces make no difference");
  for (const std::string& line : lines) {
    fuzz::Require(line == "\n" || line.size() <= kMaxLine, "a line is not too long");
    Check(mcp::ParseMessage(line));
  }
  return 0;
}
