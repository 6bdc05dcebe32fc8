#include "tools/contract.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace tools {
namespace {

using nlohmann::json;

/// A property of a tool's arguments, results, or of the entries of a list.
struct Property {
  const char* name;
  const char* type;  ///< of JSON Schema; "string?" may be null, "string[]" is a list
  std::string description;
  bool required = false;
  int minimum = -1;                    ///< -1: none
  std::vector<Property> entries = {};  ///< of "object[]"
  int maximum = -1;                    ///< -1: none
  std::vector<const char*> choices = {};
};

enum class Effect { kReads, kReplaces, kWrites, kRuns };

struct Tool {
  const char* name;
  const char* title;
  const char* description;
  std::vector<Property> inputs;
  std::vector<Property> outputs;
  Effect effect = Effect::kReads;
  bool large_results = true;
  bool open_ended = false;
  bool waits = false;
  bool has_text_style = false;
};

constexpr bool kRequired = true;

const std::string kPathRule =
    " An absolute path on the host, inside a directory that the virtual machine mounts (the "
    "server's instructions list them). The guest's path of the same file works too. Other paths "
    "are refused.";

const std::string kDefaultPath =
    " Default: the server's working directory if it is mounted, else the only mounted directory.";

Tool Glob() {
  return {
      .name = "glob",
      .title = "Find files by name",
      .description =
          "Finds files and directories whose path matches a pattern. Returns absolute host paths, "
          "most recently changed first. The pattern may contain `*`, `?`, `[...]`, `{a,b}` and "
          "`**` (any number of directories); a backslash makes the next character ordinary. A "
          "leading dot is matched like any character. `**` leaves out .git and files that git "
          "ignores, unless `path` or the directories that the pattern begins with lie inside such "
          "a directory. Symbolic links that wildcards match are returned, not followed. More than "
          "10,000 matches are an error that says how to narrow the pattern.",
      .inputs = {{"pattern", "string",
                  "Pattern for the path below `path`, such as `*.md` or `src/**/*.{cc,h}`. A "
                  "trailing `/` matches directories only. An absolute pattern must begin with a "
                  "mounted directory. `..` is refused.",
                  kRequired},
                 {"path", "string?", "Directory to search in." + kDefaultPath + kPathRule},
                 {"case_sensitive", "boolean", "Whether case matters. Default: true."}},
      .outputs = {
          {"matches", "string[]", "Absolute host paths, most recently changed first.", kRequired}}};
}

Tool ListDirectory() {
  return {
      .name = "list_directory",
      .title = "List a directory",
      .description =
          "Lists the entries of one directory, sorted by name, with size, type, permissions and "
          "time of the last change. Symbolic links are listed as links. Hidden files are "
          "included; `.` and `..` are not.",
      .inputs = {{"path", "string", "Directory to list." + kPathRule, kRequired}},
      .outputs = {
          {"entries",
           "object[]",
           "Sorted by name, byte by byte.",
           kRequired,
           -1,
           {{"name", "string",
             "Name without its directory. U+FFFD replaces bytes that are not valid UTF-8; only "
             "shell commands can reach such a file.",
             kRequired},
            {"size", "integer?", "Size in bytes."},
            {"mode", "integer?",
             "Type and permissions as Go's io/fs.FileMode number: 1<<31 is a directory, 1<<27 a "
             "symbolic link, the lowest nine bits are rwxrwxrwx."},
            {"time", "string", "Time of the last change, RFC 3339, UTC."},
            {"is_dir", "boolean?", "True for a directory; false for a link to one."}}}}};
}

Tool ReadFile() {
  return {
      .name = "read_file",
      .title = "Read a file",
      .description =
          "Returns the text of a regular file, unchanged: byte order mark, CRLF and a missing "
          "last newline are kept. Up to 32 MiB at once; read larger files in ranges of lines with "
          "`offset` and `limit`. U+FFFD replaces bytes that are not valid UTF-8, and a second "
          "content block counts them. A PNG, JPEG, GIF or WebP image of up to 5 MiB is returned "
          "as an image content block. Other binary files are refused with their size.",
      .inputs = {{"path", "string", "File to read." + kPathRule, kRequired},
                 {"offset", "integer", "First line to return, counted from 0. Default: 0.", false,
                  0},
                 {"limit", "integer",
                  "How many lines to return. Default: all up to the end of the file.", false, 1}},
      .outputs = {
          {"content", "string", "The text; for an image, a line that describes it.", kRequired}}};
}

Tool Replace() {
  return {
      .name = "replace",
      .title = "Replace text in a file",
      .description =
          "Replaces a piece of a file's text; every other byte stays as it is. Unless "
          "`allow_multiple` is set, the text must occur exactly once. Otherwise the error says on "
          "which lines it occurs, and the file is not changed. For files of up to 32 MiB. The "
          "write is atomic, under the same conditions as with write_file.",
      .inputs = {{"path", "string",
                  "File to change. The directory must be mounted writable." + kPathRule, kRequired},
                 {"old_string", "string",
                  "Text to replace, exactly as in the file, white space included, and long enough "
                  "to occur once. LF also matches CRLF.",
                  kRequired},
                 {"new_string", "string",
                  "New text; may be empty. Its LF become CRLF if the matched text has CRLF, or "
                  "all line ends of the file are CRLF.",
                  kRequired},
                 {"allow_multiple", "boolean", "Replace all occurrences. Default: false."}},
      .outputs = {{"replacements", "integer", "How many occurrences were replaced.", kRequired}},
      .effect = Effect::kReplaces,
      .large_results = false};
}

Tool RunShellCommand() {
  return {
      .name = "run_shell_command",
      .title = "Run a command in the virtual machine",
      .description =
          "Runs one command in the guest under the guest user's login shell. Returns when its "
          "main process has ended; a background child keeps running. No terminal, no standard "
          "input. After nine minutes (or the server's own limit) the command is stopped with all "
          "its children but those in a session of their own (setsid). The virtual machine is the "
          "boundary: a command can use whatever the guest user can, not only mounted directories.",
      .inputs = {{"command", "string[]",
                  "The command as a list of words, each passed on exactly as it is: "
                  "[\"ls\",\"-l\",\"my file\"]. For pipes, redirections or variables: "
                  "[\"bash\",\"-c\",\"make 2>&1 | tail\"]. Leading words of the form NAME=value "
                  "set environment variables.",
                  kRequired},
                 {"directory", "string", "Directory to run in." + kPathRule, kRequired},
                 {"description", "string",
                  "What the command is for, in a few words, for the user to read."}},
      .outputs = {{"stdout", "string",
                   "Standard output. Above 256 KiB (or the server's own limit) only its first "
                   "and last part, with a line between them that counts what was left out.",
                   kRequired},
                  {"stderr", "string", "Standard error, limited in the same way.", kRequired},
                  {"exit_code", "integer?", "Exit status; 128 + N if signal N killed the command."},
                  {"error", "string",
                   "Present if the command failed or was stopped: \"exit status 1\", \"signal: "
                   "KILL\", the time limit."}},
      .effect = Effect::kRuns,
      .open_ended = true};
}

Tool SearchFileContent() {
  return {
      .name = "search_file_content",
      .title = "Search in files",
      .description =
          "Searches the text files below a directory line by line for a regular expression, with "
          "`git grep` in the guest, whether or not the directory is a git repository. Leaves out "
          "binary files, .git, and files that .gitignore or .git/info/exclude name, unless `path` "
          "is such a file or lies inside such a directory. The user's git configuration has no "
          "effect. Returns up to 256 KiB of lines (or the server's own limit) and searches for up "
          "to one minute. If the guest has no git, `grep -E` is used: the lines look the same, "
          "ignored files are searched too, and a second content block says so.",
      .inputs = {{"pattern", "string",
                  "Regular expression, Perl-style if the guest's git supports it, else extended: "
                  "`function\\s+myFunction`.",
                  kRequired},
                 {"path", "string?", "Directory or file to search." + kDefaultPath + kPathRule},
                 {"include", "string?",
                  "Only files whose path below `path` matches this pattern, such as `*.js` (at "
                  "any depth) or `src/**/*.{ts,tsx}`; patterns are those of `glob`."}},
      .outputs = {{"git_grep_output", "string",
                   "Lines of the form `file:line:text`, file names relative to `path`; empty if "
                   "nothing matches. If lines were left out, a last line gives the totals.",
                   kRequired}}};
}

constexpr int kMaximumWait = 30'000;

const std::string kProcessId = "Id of the process.";

std::vector<Property> ProcessOutputs() {
  return {{"id", "string", kProcessId},
          {"running", "boolean", "Whether it still runs."},
          {"exit_code", "integer", "128 + N after signal N."},
          {"error", "string", "Why it ended, or a hint."},
          {"output", "string", "At most 48 KiB."},
          {"next_offset", "integer", "Where `output` ends."},
          {"remaining", "integer", "Bytes that follow."}};
}

Tool StartProcess() {
  return {
      .name = "start_process",
      .title = "Start a long-running process",
      .description =
          "Starts a command in the virtual machine and leaves it running: a server, a watcher, a "
          "long build, a REPL. Returns its id and first output; read_process returns more, "
          "write_process sends input and signals. No terminal. 16 can run at once. It ends with "
          "this session, and its children end with it.",
      .inputs = {{"command", "string[]",
                  "List of words: [\"npm\",\"run\",\"dev\"]. For pipes or variables: "
                  "[\"bash\",\"-c\",\"…\"].",
                  kRequired},
                 {"directory", "string", "Absolute host path of the directory to run in.",
                  kRequired},
                 {"wait_ms",
                  "integer",
                  "How long to wait for its end. Default: 1000.",
                  false,
                  0,
                  {},
                  kMaximumWait}},
      .outputs = ProcessOutputs(),
      .effect = Effect::kRuns,
      .waits = true,
      .has_text_style = true};
}

Tool ReadProcess() {
  std::vector<Property> outputs = ProcessOutputs();
  outputs.push_back({"dropped", "integer", "Bytes before `output` that are gone."});
  outputs.push_back({"processes",
                     "object[]",
                     "Without `id`.",
                     false,
                     -1,
                     {{"id", "string", kProcessId, kRequired},
                      {"command", "string", "Command.", kRequired},
                      {"directory", "string", "Where.", kRequired},
                      {"running", "boolean", "Whether it still runs.", kRequired},
                      {"exit_code", "integer", "Exit status."},
                      {"started", "string", "When.", kRequired}}});
  return {.name = "read_process",
          .title = "Read a process's output",
          .description =
              "Returns output of a process of start_process, also after its end, or all output of "
              "a command whose result was cut (`c1`). Without `id`, lists the processes.",
          .inputs = {{"id", "string", "Such as `p1`."},
                     {"offset", "integer",
                      "First byte; negative: so many bytes from the end. Default: where the last "
                      "read ended."},
                     {"wait_ms",
                      "integer",
                      "How long to wait for new output or the end. Default: 0.",
                      false,
                      0,
                      {},
                      kMaximumWait}},
          .outputs = std::move(outputs),
          .waits = true,
          .has_text_style = true};
}

Tool WriteProcess() {
  return {.name = "write_process",
          .title = "Send input or a signal to a process",
          .description =
              "Sends text to the standard input of a process of start_process, ends that input, or "
              "sends a signal to the process and its children. 5 s after TERM follows KILL.",
          .inputs = {{"id", "string", kProcessId, kRequired},
                     {"input", "string", "Text, passed on exactly; end a line with \\n."},
                     {"end_input", "boolean", "End its standard input."},
                     {"signal",
                      "string",
                      "Signal to send.",
                      false,
                      -1,
                      {},
                      -1,
                      {"INT", "TERM", "KILL", "HUP"}}},
          .outputs = {{"id", "string", kProcessId, kRequired},
                      {"running", "boolean", "Whether it still runs.", kRequired},
                      {"exit_code", "integer", "128 + N after signal N."},
                      {"error", "string", "Why it ended."}},
          .effect = Effect::kRuns,
          .large_results = false,
          .has_text_style = true};
}

Tool WriteFile() {
  return {
      .name = "write_file",
      .title = "Write a file",
      .description =
          "Writes a whole file, new or in place of the present one, and creates missing parent "
          "directories. The write is atomic: the file is either the old one or the whole new one. "
          "Its permissions are kept, and a symbolic link is written through. Hard links to it are "
          "broken, and the guest's user owns the new file. If the directory takes no new file, "
          "the file is overwritten in place, where an interruption can leave it incomplete; the "
          "result says so.",
      .inputs = {{"path", "string",
                  "File to write. The directory must be mounted writable." + kPathRule, kRequired},
                 {"content", "string", "The whole new text, written as UTF-8, unchanged.",
                  kRequired}},
      .outputs = {},
      .effect = Effect::kWrites,
      .large_results = false};
}

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
  if (property.maximum >= 0) schema["maximum"] = property.maximum;
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

mcp::ToolDefinition Define(const Tool& tool) {
  // Claude Code stores results above 25,000 tokens elsewhere unless the tool allows more; this is
  // the most that it accepts.
  const json large = {{"anthropic/maxResultSizeChars", 500'000}};
  const bool reads = tool.effect == Effect::kReads;
  return {.name = tool.name,
          .title = tool.title,
          .description = tool.description,
          .input_schema = ObjectSchema(tool.inputs),
          .output_schema = ObjectSchema(tool.outputs),
          // Clients before 2025-06-18 know the title as an annotation only.
          .annotations = {{"title", tool.title},
                          {"readOnlyHint", reads},
                          {"destructiveHint", !reads},
                          {"idempotentHint", reads || tool.effect == Effect::kWrites},
                          {"openWorldHint", tool.effect == Effect::kRuns}},
          .meta = tool.large_results ? large : json(),
          .open_ended = tool.open_ended,
          .waits = tool.waits,
          .has_text_style = tool.has_text_style};
}

}  // namespace

const std::vector<mcp::ToolDefinition>& Definitions() {
  static const std::vector<mcp::ToolDefinition> definitions = [] {
    std::vector<mcp::ToolDefinition> all;
    for (const Tool& tool :
         {Glob(), ListDirectory(), ReadFile(), ReadProcess(), Replace(), RunShellCommand(),
          SearchFileContent(), StartProcess(), WriteFile(), WriteProcess()}) {
      all.push_back(Define(tool));
    }
    return all;
  }();
  return definitions;
}

const mcp::ToolDefinition& Definition(std::string_view name) {
  const auto& all = Definitions();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& definition) { return definition.name == name; });
  if (found == all.end()) throw std::out_of_range("no tool named " + std::string(name));
  return *found;
}

}  // namespace tools
