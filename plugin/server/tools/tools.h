// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "files/file_content.h"
#include "files/file_writer.h"
#include "mcp/tool.h"
#include "shell/output_log.h"
#include "shell/processes.h"
#include "tools/results.h"
#include "tools/task.h"
#include "tools/tool_list.h"

/// One function per tool, each in its own file. tool_list.cc says what a tool does for its
/// caller, tests/unit/server/tools/round_trips_test.cc which round trips it takes.
namespace tools {

/// What the tools share. It must outlive all calls.
struct Toolbox {
  Toolbox(WorkspaceSource& source, const ToolOptions& tool_options)
      : workspaces(source), options(tool_options) {}

  WorkspaceSource& workspaces;
  const ToolOptions options;
  files::FileWriter writer;
  shell::Processes processes;
  shell::CutOutputs cut_outputs;
};

/// The names that a pattern begins with pass the path rules like the path itself; an absolute one
/// must lie below `path`, if that is given. A pattern for the names of single directories ("*.txt",
/// "src/*.cc") starts no process; times then count in whole seconds.
Matches Glob(Task& task);

Entries ListDirectory(Task& task);

/// The end of the line number `lines` in `text`, or of the text.
std::size_t EndOfLines(std::string_view text, std::uint64_t lines);

/// A file that cannot fit into a message is not read.
FileContent ReadFile(Task& task);

/// The limit for the file and for the result: `replace` must be able to read what it wrote.
inline constexpr std::uint64_t kMaxReplaceBytes = files::kMaxReadBytes;

/// text_replacement.h says what matches. If the file changes after it was read, everything is
/// repeated, so that the other change stays. SFTP does not show a change within the same second and
/// size, nor one in the round trip between the last look and the rename.
Written Replace(Task& task);

/// Runs a command as `limactl shell --workdir=DIRECTORY INSTANCE WORDS…` does (Lima's
/// cmd/limactl/shell.go), in the guest's resident shells (shell/resident_script.h). A failed
/// command is no error of the tool:
///   exited with status N          exit_code N; error "exit status N" unless N is 0. A shell also
///                                 reports death by signal S as 128+S
///   time limit, lost connection   no exit_code; error explains; output until then
/// Throws support::Stopped once a cancelled command has been stopped.
CommandEnd RunShellCommand(Task& task);

/// Ends within ToolOptions::time_limit, once there is a connection. A call that is cancelled, or
/// has no time left to return the id, stops the process.
ProcessOutput StartProcess(Task& task);

/// Asks the guest nothing.
Result ReadProcess(Task& task);

/// Waits for at most a second: until the process has ended, or has taken its input.
ProcessState WriteProcess(Task& task);

/// Bytes of a search pattern.
inline constexpr std::size_t kMaxSearchPattern = std::size_t{16} << 10;

/// Lines of context before a match, and after it.
inline constexpr int kMaxSearchContext = 100;

/// `path` may also name one file, which is searched even if git ignores it.
FoundLines SearchFileContent(Task& task);

/// FileWriter::Write says what is kept of an existing file. If the content contains U+FFFD, the
/// existing file is read before.
Written WriteFile(Task& task);

/// Throws support::Error if `content` contains U+FFFD and the file is not UTF-8: what read_file
/// shows in place of invalid bytes must not overwrite them. `is_utf8` is called only if necessary.
void RefuseReplacementCharacters(const paths::ResolvedPath& path, std::string_view content,
                                 const std::function<bool()>& is_utf8);

/// How much a tool fetches. A result made of that fits into one message, and as text into what the
/// client's agent shows its model.
struct FetchLimits {
  std::size_t output_bytes;   ///< of each output stream of a command
  std::size_t process_bytes;  ///< of a process's output
  std::size_t search_bytes;   ///< of the lines that a search finds
  std::size_t file_bytes;     ///< of a file that is read without a range
  bool shows_beginning;       ///< of a larger file; else it is an error
};

[[nodiscard]] FetchLimits LimitsFor(const mcp::ResultFormat& format);

/// Bytes of contents in a text, so that a line in brackets fits too.
[[nodiscard]] std::size_t TextRoom(const mcp::ResultFormat& format);

/// Matches that one call of `glob` returns; more are an error, never a silent cut.
inline constexpr std::size_t kMaxGlobMatches = 10'000;

/// Larger images are refused: models take 5 MiB in Base64.
inline constexpr std::uint64_t kMaxImageBytes = (std::uint64_t{5} << 20) / 4 * 3;

/// Lines of a file that one call shows if no range is given.
inline constexpr std::uint64_t kMaxTextLines = 2000;

/// Bytes of each output stream of a command that are shown as text.
inline constexpr std::size_t kMaxTextOutput = std::size_t{64} << 10;

// The `command` of run_shell_command and start_process.

/// Bytes of a command as a login shell's -c receives it: Linux's MAX_ARG_STRLEN (32 pages) without
/// the closing NUL.
inline constexpr std::size_t kMaxShellCommand = std::size_t{128} * 1024 - 1;

struct Command {
  std::vector<std::string> words;  ///< at least one
  std::string text;                ///< as shell::ShellCommand
  std::string note = {};           ///< if it only sets what ends with its shell
};

/// Throws support::Error for an empty list, a word with NUL, a text above kMaxShellCommand, and
/// for what only a shell would understand: a line as one word, an operator among the words.
Command ParseCommand(const nlohmann::json& arguments);

/// What to do if the guest found no such command (exit status 127) and its name has blanks; else
/// empty.
std::string ShellLineHint(int status, const Command& command);

}  // namespace tools
