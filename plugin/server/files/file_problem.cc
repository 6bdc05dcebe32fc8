// SPDX-License-Identifier: Apache-2.0
#include "files/file_problem.h"

#include <array>
#include <cstddef>

#include "support/errors.h"
#include "support/format.h"
#include "support/paths.h"
#include "support/printable.h"
#include "support/regex.h"
#include "support/units.h"
#include "support/utf8.h"
#include "support/words.h"

namespace files {
namespace {

using guest::FileErrorCode;
using support::Error;
using support::Format;

std::string DescribeFailure(const guest::FileError& error, const paths::ResolvedPath& path,
                            std::uint64_t needed_bytes, guest::Guest& guest,
                            const support::Context& context) {
  const std::string& existing = path.existing_parent.empty() ? path.guest : path.existing_parent;
  try {
    guest::Reply reply = guest.Execute(guest::Request::StatFileSystem(existing), context);
    const auto& status = reply.As<guest::FileSystemStatus>();
    if (status.read_only) return "the file system is mounted read-only in the guest";
    if (status.files > 0 && status.free_files == 0)
      return "the guest's file system has no inode left for a new file: remove files";
    if (status.free_bytes < needed_bytes) {
      return Format("no space left on the guest's file system: {} free, {} needed",
                    support::FormatByteCount(status.free_bytes),
                    support::FormatByteCount(needed_bytes));
    }
  } catch (const Error&) {
    // Not supported, or the connection was lost. Report the first failure in either case:
    // ConnectionLost would retry the call.
  }
  return error.detail().empty() ? "the guest reports a failure without a reason" : error.detail();
}

/// "PATH is a FIFO, not a `expected`"
std::string DescribeMismatch(const paths::ResolvedPath& path, std::string_view expected) {
  constexpr std::array<const char*, 8> kNames = {
      "regular file", "directory",        "symbolic link", "FIFO",
      "socket",       "character device", "block device",  "file of unknown type"};
  return Format("{} is a {}, not a {}", path.host,
                kNames.at(static_cast<std::size_t>(path.attributes->type)), expected);
}

}  // namespace

std::string LooksOf(std::string_view text) {
  struct Rule {
    Rule(const char* pattern, const char* replacement) : characters(pattern), look(replacement) {}
    support::Regex characters;
    const char* look;
  };
  // Letters with accents are one character or several.
  static const Rule rules[] = {
      {R"([\r\p{Cf}\x{FE00}-\x{FE0F}])", ""},
      {R"(\pZ)", " "},
      {R"(\p{Pd}|−)", "-"},
      {R"([\p{Pi}\p{Pf}"′″´\x{2B9}-\x{2BC}])", "'"},
      {R"(…)", "..."},
      {R"([A-Za-z]\pM+|[\x{C0}-\x{24F}\x{1E00}-\x{1EFF}\x{FFFD}])", "e"},
      {R"([\x{370}-\x{3FF}]\pM+|[ΆΈ-ΐΪ-ΰϊ-ώ])", "ε"},
      {R"([\x{400}-\x{4FF}]\pM+|[ЀЁЇЌ-ЎЙйѐёїќ-ў])", "е"},
      {R"([\x{1100}-\x{1112}][\x{1161}-\x{11FF}]+|[\x{AC00}-\x{D7A3}])", "가"},
      {R"([\x{3040}-\x{30FF}]\pM+|[がぎぐげござじずぜぞだぢづでどば-ぱび-ぴぶ-ぷべ-ぺぼ-ぽゔ])",
       "か"},
      {R"([ガギグゲゴザジズゼゾダヂヅデドバパビピブプベペボポヴ])", "か"}};
  std::string looks = support::LowerCase(support::ToUtf8(text));
  for (const auto& [characters, look] : rules) characters.ReplaceAll(looks, look);
  return looks;
}

void ProposeLookAlike(const std::string& problem, const paths::ResolvedPath& path,
                      guest::Guest& guest, const support::Context& context) {
  const std::string rest = support::PathBelow(path.guest, path.existing_parent).value_or("");
  const std::string name = rest.substr(0, rest.find('/'));
  const std::string looks = LooksOf(name);
  guest::Reply opened = guest.Execute(guest::Request::OpenDirectory(path.existing_parent), context);
  if (opened.failure || looks.empty()) return;
  const guest::OpenFile directory(guest, opened.As<guest::Handle>());
  for (const auto& [other, attributes] : guest::ReadNames(directory, context)) {
    const std::string shown = support::Printable(other);
    if (LooksOf(other) != looks && shown != name) continue;
    if (!support::IsValidUtf8(other)) {
      throw Error("{}. {} is not UTF-8: only run_shell_command reaches it, in bash as $'{}'",
                  problem, shown, shown);
    }
    // As the caller named it, if no link is on the way.
    std::string found = other + rest.substr(name.size());
    found = path.host.ends_with("/" + rest)
                ? path.host.substr(0, path.host.size() - rest.size()) + found
                : support::JoinPath(path.existing_parent, found);
    throw Error("{}. Did you mean {}?", problem, found);
  }
}

void RequireRegularFile(const paths::ResolvedPath& path, guest::Guest& guest,
                        const support::Context& context) {
  if (!path.attributes) {
    ProposeLookAlike(Format("file does not exist: {}", path.host), path, guest, context);
    throw PathlessError("file does not exist");
  }
  if (path.attributes->type == guest::FileType::kRegular) return;
  std::string text = DescribeMismatch(path, "regular file");
  if (path.attributes->type == guest::FileType::kDirectory) {
    text += "; list_directory shows what is in it";
  }
  throw Error(text);
}

void RequireDirectory(const paths::ResolvedPath& path, guest::Guest& guest,
                      const support::Context& context) {
  if (!path.attributes) {
    ProposeLookAlike(Format("{} does not exist", path.host), path, guest, context);
    throw Error("{} does not exist; list the directory above it", path.host);
  }
  if (path.attributes->type == guest::FileType::kDirectory) return;
  throw Error(DescribeMismatch(path, "directory; give the directory that it is in"));
}

void RefuseWideText(std::string_view bytes, const paths::ResolvedPath& path) {
  static const support::Regex wide(
      R"((?s)\xff\xfe|\xfe\xff|\x00\x00\xfe\xff)"
      R"(|[\t-\r -~]\x00(?:$|\x00\x00|[^\x00]\x00)|\x00[\t-\r -~](?:$|\x00[^\x00])|\x00{3}[\t-\r -~])",
      support::Regex::kLatin1);
  std::string_view beginning = bytes.substr(0, kEncodingBytes);
  if (!wide.Consume(beginning)) return;
  throw Error(
      "{} is UTF-16 or UTF-32 text, and the file tools write UTF-8; nothing was changed. "
      "Use run_shell_command: convert it with iconv, edit, convert it back",
      path.host);
}

void ThrowFileProblem(const guest::FileError& error, const std::string& action,
                      const paths::ResolvedPath& path, std::uint64_t needed_bytes,
                      guest::Guest& guest, const support::Context& context) {
  switch (error.code()) {
    case FileErrorCode::kNotFound:
      throw PathlessError("file does not exist");
    case FileErrorCode::kPermissionDenied:
      throw PathlessError("permission denied");
    case FileErrorCode::kUnsupported:
      throw Error("{} {}: the guest's SFTP server does not support this", action, path.host);
    case FileErrorCode::kFailure:
      break;
  }
  if (path.guest.empty()) throw Error(error.what());  // not resolved
  throw Error("{} {}: {}", action, path.host,
              DescribeFailure(error, path, needed_bytes, guest, context));
}

}  // namespace files
