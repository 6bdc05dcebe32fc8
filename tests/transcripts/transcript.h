#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "peer.h"

/// Conversations as text; README.md beside this says how they are written.
namespace transcripts {

struct Transcript {
  enum class Kind {
    kText,             ///< a comment or a blank line
    kSend,             ///< "> ": one line to the server
    kSendEscaped,      ///< ">e ": bytes with escapes, no line end added
    kExpect,           ///< "< ": the next line from the server
    kExpectUnordered,  ///< "<~ ": one of a group of lines that come in any order
    kEndOfInput,       ///< "! end of input"
    kExpectEnd,        ///< "! end of output"
  };

  struct Line {
    Kind kind;
    std::string text;
    std::size_t number;  ///< in the file, from 1
  };

  std::vector<Line> lines;
  bool needs_fake_tools = false;  ///< "# needs: fake tools"
};

/// Throws std::runtime_error on a line that is none of these.
Transcript ReadTranscript(const std::filesystem::path& file);

/// What the placeholders like `<TASK>` stand for.
using Bindings = std::map<std::string, std::string>;

/// Whether `line` is what `pattern` expects. Binds the placeholders that it meets first.
bool Matches(const std::string& pattern, const std::string& line, Bindings& bindings);

struct Replay {
  std::vector<std::string> flaws;  ///< empty when the server answered as expected
  std::string rewritten;           ///< the file with what the server answered
};

/// Plays the conversation. Goes on after a line that is not as expected.
Replay Play(const Transcript& transcript, Peer& peer);

}  // namespace transcripts
