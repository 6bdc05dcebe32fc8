#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "paths/path_rules.h"
#include "support/context.h"

/// What the file tools have in common.
namespace files {

/// A file tool's call ends with an error after this. Large enough for 32 MiB over a slow line;
/// clients give up at 60 s at the earliest.
inline constexpr std::chrono::seconds kFileToolTimeLimit{55};

/// "directory", "FIFO", …
std::string_view Name(guest::FileType type);

/// Adds a text block to what the client gets, bytes that are not UTF-8 replaced; none when `note`
/// is empty.
void AddNote(mcp::ToolResult& result, std::string_view note);

/// Throws support::CallError unless the path names a regular file: `file does not exist` when
/// nothing is there, else a text that says what is there instead.
void RequireRegularFile(const paths::ResolvedPath& path);

/// What an agent is told when the guest refuses: `file does not exist`, `permission denied`, or
/// "`action` PATH: …" with the path's host name; for failures that SFTP cannot name the file system
/// is asked whether it is full (for `needed_bytes`) or read-only: one round trip. That nobody
/// answers is no other failure: neither support::ConnectionLost nor support::Stopped is thrown.
/// `path` is as yet empty when it was PathRules::Resolve that failed; its own text then stands.
[[noreturn]] void ThrowFileProblem(const guest::FileError& error, const std::string& action,
                                   const paths::ResolvedPath& path, std::uint64_t needed_bytes,
                                   guest::Guest& guest, const support::Context& context);

}  // namespace files
