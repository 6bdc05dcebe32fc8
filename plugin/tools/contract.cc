#include "tools/contract.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tools {
namespace {

using nlohmann::json;

// Claude Code cuts or stores results above 25,000 tokens unless the tool says more; this is the
// most that it accepts.
constexpr int kMaximumResultCharacters = 500'000;

json LargeResults() {
  return {{"anthropic/maxResultSizeChars", kMaximumResultCharacters}};
}

constexpr std::string_view kPathRule =
    "An absolute path on the host, inside one of the directories that the virtual machine mounts "
    "(the server's instructions list them); the same file's path inside the guest is understood "
    "too. Paths anywhere else are refused.";

json Property(json type, std::string_view description) {
  return {{"type", std::move(type)}, {"description", description}};
}

json PathProperty(std::string_view what) {
  return Property("string", std::string(what) + " " + std::string(kPathRule));
}

json Object(json properties, json required) {
  json schema = {{"type", "object"}, {"additionalProperties", false}};
  if (!properties.empty()) schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

json Optional(std::string_view type) {
  return json::array({"null", type});
}

// The hints of the specification's ToolAnnotations. A tool that only reads destroys nothing and may
// be repeated; none of the file tools reaches beyond the mounted directories.
json ReadsFiles() {
  return {{"readOnlyHint", true},
          {"destructiveHint", false},
          {"idempotentHint", true},
          {"openWorldHint", false}};
}

mcp::ToolDefinition Glob() {
  return {
      .name = "glob",
      .title = "Find files by name",
      .description =
          "Finds files and directories whose path matches a pattern and returns their absolute "
          "host paths, most recently changed first. `*`, `?`, `[...]`, `{a,b}` and `**` (any "
          "number of directories) are understood, a backslash makes the next character ordinary, "
          "and names that begin with a dot match like all others. What `**` finds leaves out .git "
          "and files that git ignores, unless `path` or the directories that the pattern begins "
          "with lie inside such a directory. Symbolic links that wildcards match are returned, not "
          "followed. More than 10,000 matches are an error that says how to narrow the pattern.",
      .input_schema = Object(
          {{"pattern", Property("string",
                                "Pattern for the path below `path`, for example `*.md` or "
                                "`src/**/*.{cc,h}`; a `/` at its end asks for directories only. An "
                                "absolute pattern must begin with a mounted directory. `..` is "
                                "refused.")},
           {"path", Property(Optional("string"),
                             "Directory to search in. Left out: the server's working directory if "
                             "it is mounted, else the only mounted directory. " +
                                 std::string(kPathRule))},
           {"case_sensitive",
            Property("boolean", "Whether upper and lower case differ. Default: true.")}},
          {"pattern"}),
      .output_schema =
          Object({{"matches",
                   {{"type", "array"},
                    {"items", {{"type", "string"}}},
                    {"description", "Absolute host paths, most recently changed first."}}}},
                 {"matches"}),
      .annotations = ReadsFiles(),
      .meta = LargeResults(),
  };
}

json DirectoryEntrySchema() {
  return Object(
      {{"name", Property("string",
                         "Name without its directory. A byte that is not valid UTF-8 appears as "
                         "U+FFFD; such a file can be reached by shell commands only.")},
       {"size", Property(Optional("integer"), "Size in bytes.")},
       {"mode",
        Property(Optional("integer"),
                 "Type and permissions as Go's io/fs.FileMode number: 1<<31 is a directory, "
                 "1<<27 a symbolic link, the lowest nine bits are rwxrwxrwx.")},
       {"time", Property("string", "Time of the last change, RFC 3339, UTC.")},
       {"is_dir", Property(Optional("boolean"), "True for a directory; false for a link to one.")}},
      {"name"});
}

mcp::ToolDefinition ListDirectory() {
  return {
      .name = "list_directory",
      .title = "List a directory",
      .description =
          "Lists the entries of one directory, sorted by name, with size, type, permissions and "
          "time of the last change. Symbolic links are listed as links. Hidden files are included; "
          "`.` and `..` are not.",
      .input_schema = Object({{"path", PathProperty("Directory to list.")}}, {"path"}),
      .output_schema = Object({{"entries",
                                {{"type", "array"},
                                 {"items", DirectoryEntrySchema()},
                                 {"description", "Sorted by name, byte by byte."}}}},
                              {"entries"}),
      .annotations = ReadsFiles(),
      .meta = LargeResults(),
  };
}

mcp::ToolDefinition ReadFile() {
  json offset =
      Property("integer", "Number of the first line to return, counted from 0. Default: 0.");
  offset["minimum"] = 0;
  json limit =
      Property("integer", "How many lines to return. Default: all up to the end of the file.");
  limit["minimum"] = 1;
  return {
      .name = "read_file",
      .title = "Read a file",
      .description =
          "Returns the text of a regular file, unchanged: byte order mark, CRLF and a missing last "
          "newline stay as they are. Up to 32 MiB at once; larger files are read in ranges of "
          "lines with `offset` and `limit`. Bytes that are not valid UTF-8 appear as U+FFFD, and a "
          "second content block says how many there are. A PNG, JPEG, GIF or WebP image of up to "
          "5 MiB comes as an image content block. Other binary files are refused with their size.",
      .input_schema = Object({{"path", PathProperty("File to read.")},
                              {"offset", std::move(offset)},
                              {"limit", std::move(limit)}},
                             {"path"}),
      .output_schema = Object(
          {{"content", Property("string", "The text; for an image, a line that says what it is.")}},
          {"content"}),
      .annotations = ReadsFiles(),
      .meta = LargeResults(),
  };
}

mcp::ToolDefinition Replace() {
  return {
      .name = "replace",
      .title = "Replace text in a file",
      .description =
          "Replaces one piece of a file's text by another; everything else stays as it is, byte by "
          "byte. Unless `allow_multiple` is set, the text must be there exactly once: otherwise "
          "the error tells how often and on which lines it was found, and the file is untouched. "
          "Works on files of up to 32 MiB. The file is at any moment either the old one or the "
          "whole new one, under the same conditions as with write_file.",
      .input_schema = Object(
          {{"path", PathProperty("File to change. The directory must be mounted writable.")},
           {"old_string",
            Property("string",
                     "Text to replace, exactly as it stands in the file, white space included; as "
                     "much of it as it takes to be found once. A line end LF also stands for "
                     "CRLF.")},
           {"new_string",
            Property("string",
                     "Text to put in its place; may be empty. Its line ends LF become CRLF where "
                     "the text found has CRLF, and in a file where all line ends are CRLF.")},
           {"allow_multiple",
            Property("boolean", "Replace all occurrences, from first to last. Default: false.")}},
          {"path", "old_string", "new_string"}),
      .output_schema =
          Object({{"replacements", Property("integer", "How many occurrences were replaced.")}},
                 {"replacements"}),
      .annotations = {{"readOnlyHint", false},
                      {"destructiveHint", true},
                      {"idempotentHint", false},
                      {"openWorldHint", false}},
      .meta = nullptr,
  };
}

mcp::ToolDefinition RunShellCommand() {
  return {
      .name = "run_shell_command",
      .title = "Run a command in the virtual machine",
      .description =
          "Runs one command in the guest under the guest user's login shell and returns when its "
          "main process has ended; a child that it leaves in the background lives on. No terminal, "
          "no standard input. A command that runs too long (nine minutes, unless the server was "
          "started with another limit) is ended with all its children but those in a session of "
          "their own (setsid). The virtual machine is the boundary: a command may use whatever the "
          "guest user can, not only mounted directories.",
      .input_schema = Object(
          {{"command",
            {{"type", "array"},
             {"items", {{"type", "string"}}},
             {"description",
              "The command as a list of words, each passed on exactly as it is: "
              "[\"ls\",\"-l\",\"my file\"]. For pipes, redirections or variables: "
              "[\"bash\",\"-c\",\"make 2>&1 | tail\"]. Leading words of the form NAME=value set "
              "environment variables."}}},
           {"directory", PathProperty("Directory to run in.")},
           {"description",
            Property("string", "What the command is for, in a few words, for the user's eyes.")}},
          {"command", "directory"}),
      .output_schema = Object(
          {{"stdout", Property("string",
                               "Standard output. Above 256 KiB (unless the server was started "
                               "with another limit) only its first and last part, with a line "
                               "between them that counts what was left out.")},
           {"stderr", Property("string", "Standard error, limited in the same way.")},
           {"exit_code",
            Property(Optional("integer"), "Exit status; 128 + N when signal N ended the command.")},
           {"error", Property("string",
                              "Present when the command failed or was ended: \"exit status 1\", "
                              "\"signal: KILL\", the time limit.")}},
          {"stdout", "stderr"}),
      .annotations = {{"readOnlyHint", false},
                      {"destructiveHint", true},
                      {"idempotentHint", false},
                      {"openWorldHint", true}},
      .meta = LargeResults(),
      .open_ended = true,
  };
}

mcp::ToolDefinition SearchFileContent() {
  return {
      .name = "search_file_content",
      .title = "Search in files",
      .description =
          "Searches the text files below a directory for a regular expression with `git grep` in "
          "the guest, whether or not the directory is a git repository, line by line. Binary "
          "files, .git and files that ignore files (.gitignore, .git/info/exclude) name are left "
          "out, unless `path` is such a file or lies inside such a directory; the user's own git "
          "configuration does not count. Returns up to 256 KiB of lines (unless the server was "
          "started with another limit), searches for up to one minute. Where the guest has no git, "
          "the files are read and matched with RE2's expressions instead; the result looks the "
          "same, and a second content block says so. Then files above 8 MiB are not searched, "
          "ignore files are not obeyed, backreferences, lookaround, possessive and atomic groups "
          "are refused, and `\\w`, `\\d`, `\\s` and `\\b` know ASCII only.",
      .input_schema = Object(
          {{"pattern", Property("string",
                                "Regular expression, Perl-style where the guest's git has it, else "
                                "extended: `function\\s+myFunction`.")},
           {"path", Property(Optional("string"),
                             "Directory or file to search. Left out: the server's working "
                             "directory if it is mounted, else the only mounted directory. " +
                                 std::string(kPathRule))},
           {"include", Property(Optional("string"),
                                "Only files whose path below `path` matches this pattern, for "
                                "example `*.js` (at any depth) or `src/**/*.{ts,tsx}`; the same "
                                "patterns as those of `glob`.")}},
          {"pattern"}),
      .output_schema = Object(
          {{"git_grep_output",
            Property("string",
                     "Lines of the form `file:line:text`, file names relative to `path`; empty "
                     "when nothing matches. A last line gives the totals when it was cut.")}},
          {"git_grep_output"}),
      .annotations = ReadsFiles(),
      .meta = LargeResults(),
  };
}

mcp::ToolDefinition WriteFile() {
  return {
      .name = "write_file",
      .title = "Write a file",
      .description =
          "Writes a whole file, new or in place of the present one, and creates missing parent "
          "directories. The file is at any moment either the old one or the whole new one, and "
          "keeps its permissions; a symbolic link stays and the file that it leads to is written. "
          "Hard links to it are broken, and it then belongs to the guest's user. One exception: "
          "where the directory takes no new file, the file is overwritten in place, and an "
          "interruption can then leave it incomplete; the result says so.",
      .input_schema = Object(
          {{"path", PathProperty("File to write. The directory must be mounted writable.")},
           {"content", Property("string", "The whole new text, written as UTF-8, unchanged.")}},
          {"path", "content"}),
      .output_schema = Object(json::object(), json::array()),
      .annotations = {{"readOnlyHint", false},
                      {"destructiveHint", true},
                      {"idempotentHint", true},
                      {"openWorldHint", false}},
      .meta = nullptr,
  };
}

std::vector<mcp::ToolDefinition> MakeDefinitions() {
  std::vector<mcp::ToolDefinition> definitions = {
      Glob(),      ListDirectory(), ReadFile(), Replace(), RunShellCommand(), SearchFileContent(),
      WriteFile(),
  };
  // Clients of before 2025-06-18 know the title as an annotation only.
  for (mcp::ToolDefinition& definition : definitions) {
    definition.annotations["title"] = definition.title;
  }
  return definitions;
}

}  // namespace

const std::vector<mcp::ToolDefinition>& Definitions() {
  static const std::vector<mcp::ToolDefinition> definitions = MakeDefinitions();
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
