#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "peer.h"

/// Conversations as text; README.md describes the format.
namespace transcripts {

struct Transcript {
  enum class Kind {
    kText,              ///< a comment or a blank line
    kSend,              ///< "> "
    kSendEscaped,       ///< ">e "
    kExpect,            ///< "< "
    kExpectUnordered,   ///< "<~ "
    kExpectEventually,  ///< "<? "
    kEndOfInput,        ///< "! end of input"
    kExpectEnd,         ///< "! end of output"
  };

  struct Line {
    Kind kind;
    std::string prefix;
    std::string text;    ///< after the prefix
    std::size_t number;  ///< in the file, from 1
  };

  std::vector<Line> lines;
  bool needs_fake_tools = false;
};

/// Throws std::runtime_error on an invalid line.
Transcript ReadTranscript(const std::filesystem::path& file);

struct Replay {
  std::vector<std::string> errors;  ///< empty when the server answered as expected
  std::string rewritten;            ///< the file with what the server answered
};

/// Plays the conversation. Continues after an unexpected line.
Replay Play(const Transcript& transcript, Peer& peer);

}  // namespace transcripts
