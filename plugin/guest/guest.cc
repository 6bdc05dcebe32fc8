#include "guest/guest.h"

#include <utility>

#include "support/paths.h"

namespace guest {
namespace {

std::string_view Describe(FileErrorCode code) {
  switch (code) {
    case FileErrorCode::kNotFound:
      return "no such file or directory";
    case FileErrorCode::kPermissionDenied:
      return "permission denied";
    case FileErrorCode::kAlreadyExists:
      return "file exists";
    case FileErrorCode::kUnsupported:
      return "operation not supported by the guest's SFTP server";
    case FileErrorCode::kFailure:
      return "failure";
  }
  return "failure";
}

std::string Text(FileErrorCode code, const std::string& operation, const std::string& path,
                 const std::string& detail) {
  std::string text = operation + " " + path + ": " + std::string(Describe(code));
  if (!detail.empty()) text += " (" + detail + ")";
  return text;
}

bool Exists(Guest& guest, const std::string& path, const support::Context& context) {
  try {
    guest.LStat(path, context);
  } catch (const FileError&) {
    return false;
  }
  return true;
}

/// Finds out whether the name is taken: SFTP version 3 has no code for kAlreadyExists.
[[noreturn]] void ThrowWhyNotMade(Guest& guest, const FileError& error, const char* operation,
                                  const std::string& path, const support::Context& context) {
  if (error.code() == FileErrorCode::kFailure && Exists(guest, path, context)) {
    throw FileError(FileErrorCode::kAlreadyExists, operation, path, "");
  }
  throw FileError(error);
}

}  // namespace

FileError::FileError(FileErrorCode code, const std::string& operation, const std::string& path,
                     const std::string& detail)
    : CallError(Text(code, operation, path, detail)), code_(code), detail_(detail) {}

FileType FileTypeOf(std::uint32_t mode) {
  constexpr std::uint32_t kTypeMask = 0170000;
  switch (mode & kTypeMask) {
    case 0100000U:
      return FileType::kRegular;
    case 0040000U:
      return FileType::kDirectory;
    case 0120000U:
      return FileType::kSymlink;
    case 0010000U:
      return FileType::kFifo;
    case 0140000U:
      return FileType::kSocket;
    case 0020000U:
      return FileType::kCharacterDevice;
    case 0060000U:
      return FileType::kBlockDevice;
    default:
      return FileType::kUnknown;
  }
}

void CheckPath(const Request& request, Reply& reply) {
  const bool resolves = request.operation == Operation::kRealPath;
  if (reply.failure || (!resolves && request.operation != Operation::kReadLink)) return;
  const std::string& path = reply.As<std::string>();
  const auto refuse = [&](const std::string& detail) {
    reply.failure.emplace(FileErrorCode::kFailure, resolves ? "resolve" : "read the link",
                          request.path, detail);
  };
  // Resolved paths are compared with roots as text.
  const bool is_clean = !resolves || (path.starts_with('/') && support::CleanPath(path) == path);
  if (path.size() > kMaxPath) {
    refuse("the guest sent a path of " + std::to_string(path.size()) + " bytes; at most " +
           std::to_string(kMaxPath) + " are allowed");
  } else if (path.empty() || path.find('\0') != std::string::npos || !is_clean) {
    refuse("the guest sent an invalid path");
  }
}

Reply Guest::Execute(Request request, const support::Context& context) {
  return std::move(RoundTrip({std::move(request)}, context).front());
}

FileAttributes Guest::Stat(const std::string& path, const support::Context& context) {
  return Execute(Request::Stat(path), context).As<FileAttributes>();
}

FileAttributes Guest::LStat(const std::string& path, const support::Context& context) {
  return Execute(Request::LStat(path), context).As<FileAttributes>();
}

std::string Guest::RealPath(const std::string& path, const support::Context& context) {
  return std::move(Execute(Request::RealPath(path), context).As<std::string>());
}

std::string Guest::ReadLink(const std::string& path, const support::Context& context) {
  return std::move(Execute(Request::ReadLink(path), context).As<std::string>());
}

FileSystemStatus Guest::StatFileSystem(const std::string& path, const support::Context& context) {
  return Execute(Request::StatFileSystem(path), context).As<FileSystemStatus>();
}

void Guest::Rename(const std::string& from, const std::string& to,
                   const support::Context& context) {
  Execute(Request::Rename(from, to), context).RequireSuccess();
}

void Guest::Unlink(const std::string& path, const support::Context& context) {
  Execute(Request::Unlink(path), context).RequireSuccess();
}

void Guest::MakeDirectory(const std::string& path, std::uint32_t permissions,
                          const support::Context& context) {
  try {
    Execute(Request::MakeDirectory(path, permissions), context).RequireSuccess();
  } catch (const FileError& error) {
    ThrowWhyNotMade(*this, error, "make the directory", path, context);
  }
}

std::unique_ptr<OpenFile> Guest::Open(const std::string& path, OpenMode mode,
                                      std::uint32_t permissions, const support::Context& context) {
  try {
    auto handle = std::move(Execute(Request::Open(path, mode, permissions), context).As<Handle>());
    return std::make_unique<OpenFile>(OpenHandle(*this, std::move(handle)));
  } catch (const FileError& error) {
    if (mode != OpenMode::kCreateExclusive) throw;
    ThrowWhyNotMade(*this, error, "create", path, context);
  }
}

std::vector<DirectoryEntry> Guest::List(const std::string& path, const support::Context& context) {
  const OpenHandle directory(
      *this, std::move(Execute(Request::OpenDirectory(path), context).As<Handle>()));
  return ReadNames(directory, context);
}

RealFile Guest::FindRealFile(const std::string& path, const support::Context& context) {
  std::vector<Reply> replies = RoundTrip({Request::RealPath(path), Request::LStat(path)}, context);
  RealFile found{replies[0].As<std::string>(), std::nullopt};
  if (found.path != path) replies[1] = Execute(Request::LStat(found.path), context);
  if (!replies[1].Is(FileErrorCode::kNotFound)) found.attributes = replies[1].As<FileAttributes>();
  return found;
}

namespace {

class OutputOfScript final : public shell::OutputSink {
 public:
  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream == shell::Stream::kOutput) answer += bytes;
    return answer.size() <= kMaxScriptOutput;
  }

  std::string answer;
};

}  // namespace

ScriptOutput CaptureScript(Guest& guest, const std::string& script,
                           const support::Context& context) {
  OutputOfScript sink;
  const std::optional<int> status = guest.RunScript(script, sink, context).exit_status;
  return {std::move(sink.answer), status};
}

}  // namespace guest
