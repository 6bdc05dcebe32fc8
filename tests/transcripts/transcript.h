#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "peer.h"

/// Conversations as text; README.md describes the format.
namespace transcripts {

struct Line {
  enum class Kind {
    kText,             ///< a comment or a blank line
    kSend,             ///< "> "
    kSendEscaped,      ///< ">e "
    kExpect,           ///< "< "
    kExpectUnordered,  ///< "<~ "
    kEndOfInput,       ///< "! end of input"
    kExpectEnd,        ///< "! end of output"
  };

  Kind kind;
  std::string prefix;
  std::string text;    ///< after the prefix
  std::size_t number;  ///< in the file, from 1
};

/// Throws std::runtime_error on an invalid line.
std::vector<Line> ReadTranscript(const std::filesystem::path& file);

struct Replay {
  std::vector<std::string> errors;  ///< empty when the server answered as expected
  std::string rewritten;            ///< the file with what the server answered
};

/// Plays the conversation. Continues after an unexpected line.
Replay Play(const std::vector<Line>& lines, Peer& peer);

}  // namespace transcripts
