// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "shell/output_log.h"

/// What the tools return, and what a client receives of it.
namespace tools {

/// Texts for the agent, beside the result. Empty ones are left out.
using Notes = std::vector<std::string>;

struct Image {
  std::string bytes;
  const char* mime_type;
};

struct FileContent {
  std::string text = {};  ///< of an image: what it is
  std::string rest = {};  ///< how to read what follows; empty: nothing does
  std::optional<Image> image = {};
  Notes notes = {};
};

struct Entries {
  std::vector<guest::DirectoryEntry> entries = {};
  Notes notes = {};
};

struct Matches {
  std::vector<std::string> paths = {};
  Notes notes = {};
};

struct FoundLines {
  std::string lines = {};
  Notes notes = {};
};

/// A file was written.
struct Written {
  Notes notes = {};
  std::optional<std::size_t> replacements = {};  ///< only of `replace`
};

/// How a command or process ended; one that runs has neither.
struct End {
  std::optional<int> exit_code = {};
  std::string error = {};  ///< why it did not succeed, or a hint
};

struct CommandEnd {
  std::string standard_output;
  std::string standard_error;
  End end;
  Notes notes = {};
};

/// A process, or a command whose output was cut (no `running`).
struct ProcessState {
  std::string id;
  std::optional<bool> running = {};
  End end = {};
};

struct ProcessOutput {
  ProcessState state;
  shell::OutputLog::Piece piece;
  std::optional<std::string> matched = {};  ///< the line that was waited for
  Notes notes = {};
};

struct ListedProcess {
  ProcessState state;
  std::string command;
  std::string directory;
  std::chrono::system_clock::time_point started;
};

using ProcessList = std::vector<ListedProcess>;

/// What a tool returns.
using Result = std::variant<FileContent, Entries, Matches, FoundLines, Written, CommandEnd,
                            ProcessState, ProcessOutput, ProcessList>;

/// The one place that encodes results: as JSON of the contract's output schemas, or as the models
/// of agents read them best (mcp::ResultStyle::kText): the contents as they are, and after them at
/// most one line in brackets that says what is not shown and how to get it.
[[nodiscard]] mcp::ToolResult Render(const Result& result, const mcp::ResultFormat& format);

}  // namespace tools
