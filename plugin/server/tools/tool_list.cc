// SPDX-License-Identifier: Apache-2.0
#include "tools/tool_list.h"

#include <utility>

#include "support/format.h"
#include "support/units.h"
#include "tools/tools.h"

namespace tools {
namespace {

using mcp::Lane;
using nlohmann::json;

/// A property of a tool's arguments, results, or of the entries of a list.
struct Property {
  const char* name;
  const char* type;  ///< of JSON Schema; "string?" may be null, "string[]" is a list
  std::string description;
  bool required = false;
  std::vector<Property> entries = {};  ///< of "object[]"
  std::vector<const char*> choices = {};
  int minimum = -1;  ///< -1: none
  int maximum = -1;  ///< -1: none; of a string: its length
};

using Function = mcp::ToolResult(Toolbox&, const mcp::ToolCall&);

template <auto kTool>
mcp::ToolResult Run(Toolbox& toolbox, const mcp::ToolCall& call) {
  return Perform(toolbox, call, [](Task& task) { return Render(kTool(task), task.call.format); });
}

enum class Effect { kReads, kReplaces, kWrites, kRuns };

/// A tool. Names, properties, types and outputs are those of Lima's MCP interface (package msi of
/// github.com/lima-vm/lima, pkg/mcp/msi); the texts are ours.
struct Contract {
  const char* name;
  Function* run;
  const char* title;
  std::string description;
  std::vector<Property> inputs;
  std::vector<Property> outputs = {};
  Effect effect = Effect::kReads;
  const char* when_too_large = "ask for less";  ///< mcp::ToolDefinition
  Lane lane = Lane::kQuick;
};

constexpr bool kRequired = true;

const std::string kPathRule = " Paths are absolute host paths in mounted directories.";

const std::string kWritablePathRule =
    " Paths are absolute host paths in directories mounted writable.";

const std::string kDefaultPath = " Default: the working directory.";

json ObjectSchema(const std::vector<Property>& properties);

json PropertySchema(const Property& property) {
  std::string type = property.type;
  json schema = {{"description", property.description}};
  if (type == "object[]") {
    schema["type"] = "array";
    schema["items"] = ObjectSchema(property.entries);
  } else if (type.ends_with("[]")) {
    schema["type"] = "array";
    schema["items"] = {{"type", type.substr(0, type.size() - 2)}};
  } else if (type.ends_with('?')) {
    type.pop_back();
    schema["type"] = json::array({"null", type});
  } else {
    schema["type"] = type;
  }
  if (property.minimum >= 0) schema["minimum"] = property.minimum;
  const char* const most = type == "string" ? "maxLength" : "maximum";
  if (property.maximum >= 0) schema[most] = property.maximum;
  if (!property.choices.empty()) schema["enum"] = property.choices;
  return schema;
}

json ObjectSchema(const std::vector<Property>& properties) {
  json schema = {{"type", "object"}, {"additionalProperties", false}};
  for (const Property& property : properties) {
    schema["properties"][property.name] = PropertySchema(property);
    if (property.required) schema["required"].push_back(property.name);
  }
  return schema;
}

/// Stands for ToolOptions::command_timeout in words.
const std::string kTimeLimit = "{time limit}";

mcp::ToolDefinition Define(const Contract& tool, const ToolOptions& options) {
  const auto limit = options.command_timeout;
  std::string description = tool.description;
  if (const std::size_t at = description.find(kTimeLimit); at != std::string::npos) {
    description.replace(at, kTimeLimit.size(),
                        limit.count() == 0
                            ? "without a time limit"
                            : support::Format("for up to {}; start_process is for longer ones",
                                              support::FormatDuration(limit)));
  }
  // One agent otherwise hides tools until the model searches for them, and stores results above
  // 25,000 tokens elsewhere; this is the most that it accepts.
  json meta = {{"anthropic/alwaysLoad", true}};
  const bool reads = tool.effect == Effect::kReads;
  if (reads || tool.lane == Lane::kCommand) meta["anthropic/maxResultSizeChars"] = 500'000;
  return {.name = tool.name,
          .title = tool.title,
          .description = std::move(description),
          .input_schema = ObjectSchema(tool.inputs),
          .output_schema = ObjectSchema(tool.outputs),
          // Clients before 2025-06-18 know the title as an annotation only.
          .annotations = {{"title", tool.title},
                          {"readOnlyHint", reads},
                          {"destructiveHint", !reads},
                          {"idempotentHint", reads || tool.effect == Effect::kWrites},
                          {"openWorldHint", tool.effect == Effect::kRuns}},
          .meta = std::move(meta),
          .lane = tool.lane,
          .when_too_large = tool.when_too_large};
}

Property Count(const char* name, std::string description, int minimum, int maximum = -1) {
  return {.name = name,
          .type = "integer",
          .description = std::move(description),
          .minimum = minimum,
          .maximum = maximum};
}

const std::string kProcessId = "Id of the process.";

const std::vector<Property> kProcessOutputs = {{"id", "string", kProcessId},
                                               {"running", "boolean", "Whether it still runs."},
                                               {"exit_code", "integer", "128 + N after signal N."},
                                               {"error", "string", "Why it ended, or a hint."},
                                               {"output", "string", "At most 48 KiB."},
                                               {"next_offset", "integer", "Where `output` ends."},
                                               {"remaining", "integer", "Bytes that follow."}};

std::vector<Property> ReadProcessOutputs() {
  std::vector<Property> outputs = kProcessOutputs;
  outputs.push_back({"dropped", "integer", "Bytes before `output` that are gone or left out."});
  outputs.push_back({"matched", "string", "The line of `until`, with which `output` ends."});
  outputs.push_back({.name = "processes",
                     .type = "object[]",
                     .description = "Without `id`.",
                     .entries = {{"id", "string", kProcessId, kRequired},
                                 {"command", "string", "Command.", kRequired},
                                 {"directory", "string", "Where.", kRequired},
                                 {"running", "boolean", "Whether it still runs.", kRequired},
                                 {"exit_code", "integer", "Exit status."},
                                 {"error", "string", "Why it ended."},
                                 {"started", "string", "When.", kRequired}}});
  return outputs;
}

const std::vector<Contract> kContracts = {
    {.name = "glob",
     .run = Run<Glob>,
     .title = "Find files by name",
     .description =
         "Finds files and directories in the VM by a path pattern with `*`, `?`, `[...]`, "
         "`{a,b}`, `**`. Returns absolute host paths, latest change first, at most 10,000. "
         "`**` skips .git, linked directories and git-ignored files unless `path` is inside one." +
         kPathRule,
     .inputs = {{"pattern", "string",
                 "Relative to `path`: `*.md`, `src/**/*.{cc,h}`; with `/` at its end for "
                 "directories only.",
                 kRequired},
                {"path", "string?", "Directory to search." + kDefaultPath},
                {"case_sensitive", "boolean", "Default: true."}},
     .outputs = {{"matches", "string[]", "Absolute host paths, most recently changed first.",
                  kRequired}},
     .when_too_large = "give a narrower pattern or directory"},
    {.name = "list_directory",
     .run = Run<ListDirectory>,
     .title = "List a directory",
     .description = "Lists a directory in the VM, hidden files included: type, permissions, size "
                    "and time of the last change, sorted by name." +
                    kPathRule,
     .inputs = {{"path", "string", "Directory to list.", kRequired}},
     .outputs =
         {{"entries",
           "object[]",
           "Sorted by name, byte by byte.",
           kRequired,
           {{"name", "string",
             "Name without its directory. U+FFFD replaces bytes that are not valid UTF-8; only "
             "shell commands can reach such a file.",
             kRequired},
            {"size", "integer?", "Size in bytes."},
            {"mode", "integer?",
             "Type and permissions as Go's io/fs.FileMode number: 1<<31 is a directory, 1<<27 a "
             "symbolic link, the lowest nine bits are rwxrwxrwx."},
            {"time", "string", "Time of the last change, RFC 3339, UTC."},
            {"is_dir", "boolean?", "True for a directory; false for a link to one."}}}},
     .when_too_large = "find the entries by a pattern, with glob"},
    {.name = "read_file",
     .run = Run<ReadFile>,
     .title = "Read a file",
     .description =
         "Reads a text file in the VM, unchanged, or an image (PNG, JPEG, GIF, WebP; up to 3840 "
         "KiB). Read large files in ranges of lines with `offset` and "
         "`limit`. U+FFFD stands "
         "for invalid UTF-8." +
         kPathRule,
     .inputs = {{"path", "string", "File to read.", kRequired},
                Count("offset", "First line, from 0. Default: 0.", 0),
                Count("limit", "Number of lines. Default: a page.", 1)},
     .outputs = {{"content", "string", "The text; for an image, a line that describes it.",
                  kRequired}},
     .when_too_large = "read it in ranges of lines, with `offset` and `limit`"},
    {.name = "read_process",
     .run = Run<ReadProcess>,
     .title = "Read a process",
     .description = "Returns output of a process (`p1`), also after its end, or the whole output "
                    "of a command whose result was cut (`c1`). Without `id`, lists the processes.",
     .inputs = {{"id", "string", "`p1` or `c1`."},
                {"offset", "integer",
                 "First byte; negative: so many from the end. Default: where the last read ended."},
                Count("wait_ms",
                      "How long to wait: up to 30000, default 0; with `until`, most and "
                      "default are a command's time limit, or a day without one.",
                      0),
                {.name = "until",
                 .type = "string",
                 .description = "Waits until a line matches this regular expression (RE2) or the "
                                "process ends. Use it instead of polling: `ready|listening|error`.",
                 .maximum = 1000}},
     .outputs = ReadProcessOutputs(),
     .lane = Lane::kWaiting},
    {.name = "replace",
     .run = Run<Replace>,
     .title = "Replace text",
     .description = "Replaces text that occurs exactly once in a file in the VM; otherwise nothing "
                    "changes, and the error names the lines. Keeps owner and mode only." +
                    kWritablePathRule,
     .inputs = {{"path", "string", "File to change.", kRequired},
                {"old_string", "string",
                 "Text as in the file, white space included. LF also matches CRLF.", kRequired},
                {"new_string", "string", "New text; may be empty.", kRequired},
                {"allow_multiple", "boolean", "Replace all occurrences."}},
     .outputs = {{"replacements", "integer", "How many occurrences were replaced.", kRequired}},
     .effect = Effect::kReplaces},
    {.name = "run_shell_command",
     .run = Run<RunShellCommand>,
     .title = "Run a command in the VM",
     .description =
         "Runs a command in the VM in a login shell, without terminal or input, {time limit}. "
         "Returns output and exit code. A command can use the whole VM, not only mounted "
         "directories.",
     .inputs = {{"command", "string[]",
                 "List of words, passed on exactly: [\"ls\",\"-l\",\"my file\"]. For pipes or "
                 "variables: [\"bash\",\"-c\",\"make 2>&1 | tail\"]. Leading NAME=value words "
                 "set the environment.",
                 kRequired},
                {"directory", "string", "Absolute host path to run in.", kRequired},
                {"description", "string", "Purpose."}},
     .outputs = {{"stdout", "string",
                  "Standard output. Above 256 KiB (or the server's own limit) only its first "
                  "and last part, with a line between them that counts what was left out.",
                  kRequired},
                 {"stderr", "string", "Standard error, limited in the same way.", kRequired},
                 {"exit_code", "integer?",
                  "Exit status. A shell reports death by signal N as 128 + N."},
                 {"error", "string",
                  "Present if the command failed or was stopped: \"exit status 1\", the time "
                  "limit."}},
     .effect = Effect::kRuns,
     .lane = Lane::kCommand},
    {.name = "search_file_content",
     .run = Run<SearchFileContent>,
     .title = "Search in files",
     .description =
         "Searches text files in the VM line by line for a regular expression, with `git grep`. "
         "Returns `file:line:text`, names relative to `path`. "
         "Skips binary files, .git and git-ignored files unless `path` is one or inside one." +
         kPathRule,
     .inputs = {{"pattern", "string", "Perl-style: `function\\s+myFunction`.", kRequired},
                {"path", "string?", "Directory or file to search." + kDefaultPath},
                {"include", "string?",
                 "Only matching files: `*.js` (at any depth), `src/**/*.{ts,tsx}`."},
                {"case_sensitive", "boolean", "Default: true."},
                {"fixed_strings", "boolean", "`pattern` is plain text."},
                Count("before", "Context lines before a match.", 0, kMaxSearchContext),
                Count("after", "And after it.", 0, kMaxSearchContext),
                Count("context", "Default of both.", 0, kMaxSearchContext),
                {"names_only", "boolean", "File names only."},
                {"no_ignore", "boolean", "Search git-ignored files too."},
                Count("max_matches_per_file", "Matching lines.", 1),
                Count("total_max_matches", "Matches in all.", 1)},
     .outputs =
         {{"git_grep_output", "string",
           "Lines `file:line:text`, file names relative to `path`; empty if nothing matches. "
           "Lines of context are `file-line-text`, with `--` between groups. If lines "
           "were left out, a last line gives the totals.",
           kRequired}}},
    {.name = "start_process",
     .run = Run<StartProcess>,
     .title = "Start a process",
     .description =
         "Starts a command in the VM and leaves it running: a server, a watcher, a build, a "
         "REPL. At most six run at once. Returns its id and first output; go on with read_process "
         "and write_process. No terminal. Ends with this session; its children, not daemons, with "
         "it.",
     .inputs = {{"command", "string[]",
                 "List of words, such as [\"npm\",\"run\",\"dev\"]; for a shell line "
                 "[\"bash\",\"-c\",\"...\"].",
                 kRequired},
                {"directory", "string", "Absolute host path to run in.", kRequired},
                Count("wait_ms", "How long to wait for its end: up to 30000, default 1000.", 0)},
     .outputs = kProcessOutputs,
     .effect = Effect::kRuns,
     .lane = Lane::kWaiting},
    {.name = "write_file",
     .run = Run<WriteFile>,
     .title = "Write a file",
     .description =
         "Writes a whole file in the VM, new or in place of the old one, and creates missing "
         "directories. Atomic where possible; keeps owner and mode, not access lists or "
         "attributes; follows symbolic links, breaks hard links." +
         kWritablePathRule,
     .inputs = {{"path", "string", "File to write.", kRequired},
                {"content", "string", "The whole new text.", kRequired}},
     .effect = Effect::kWrites},
    {.name = "write_process",
     .run = Run<WriteProcess>,
     .title = "Write to a process",
     .description = "Sends input to a process, ends its input, or sends it and its children a "
                    "signal. KILL follows 5 s after TERM.",
     .inputs = {{"id", "string", kProcessId, kRequired},
                {"input", "string", "Up to 1 MiB of text; end a line with \\n."},
                {"end_input", "boolean", "End its standard input."},
                {"signal", "string", "Signal.", false, {}, {"INT", "TERM", "KILL", "HUP"}}},
     .outputs = {{"id", "string", kProcessId, kRequired},
                 {"running", "boolean", "Whether it still runs.", kRequired},
                 {"exit_code", "integer", "128 + N after signal N."},
                 {"error", "string", "Why it ended."}},
     .effect = Effect::kRuns,
     // Stopping a process never waits behind file tools whose guest does not answer.
     .lane = Lane::kWaiting}};

}  // namespace

std::vector<mcp::ToolDefinition> Definitions(const ToolOptions& options) {
  std::vector<mcp::ToolDefinition> definitions;
  for (const Contract& tool : kContracts) definitions.push_back(Define(tool, options));
  return definitions;
}

std::vector<mcp::Tool> MakeTools(WorkspaceSource& workspaces, const ToolOptions& options) {
  const auto toolbox = std::make_shared<Toolbox>(workspaces, options);
  std::vector<mcp::Tool> tools;
  for (const Contract& tool : kContracts) {
    tools.push_back({Define(tool, options), [toolbox, run = tool.run](const mcp::ToolCall& call) {
                       return run(*toolbox, call);
                     }});
  }
  return tools;
}

}  // namespace tools
