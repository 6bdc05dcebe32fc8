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

template <typename Value>
Value Query(Guest& guest, Request request, const support::Context& context) {
  return std::move(guest.RoundTrip({std::move(request)}, context).front().As<Value>());
}

void Execute(Guest& guest, Request request, const support::Context& context) {
  guest.RoundTrip({std::move(request)}, context).front().RequireSuccess();
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
  const auto* real_path = std::get_if<request::RealPath>(&request);
  const auto* link = std::get_if<request::ReadLink>(&request);
  if (reply.failure || (real_path == nullptr && link == nullptr)) return;
  const std::string& path = reply.As<std::string>();
  const auto refuse = [&](const std::string& detail) {
    reply.failure.emplace(FileErrorCode::kFailure,
                          real_path != nullptr ? "resolve" : "read the link",
                          real_path != nullptr ? real_path->path : link->path, detail);
  };
  // Resolved paths are compared with roots as text.
  const bool is_clean =
      real_path == nullptr || (path.starts_with('/') && support::CleanPath(path) == path);
  if (path.size() > kLongestPath) {
    refuse("the guest sent a path of " + std::to_string(path.size()) + " bytes; at most " +
           std::to_string(kLongestPath) + " are allowed");
  } else if (path.empty() || path.find('\0') != std::string::npos || !is_clean) {
    refuse("the guest sent an invalid path");
  }
}

FileAttributes Guest::Stat(const std::string& path, const support::Context& context) {
  return Query<FileAttributes>(*this, request::Stat{path}, context);
}

FileAttributes Guest::LStat(const std::string& path, const support::Context& context) {
  return Query<FileAttributes>(*this, request::LStat{path}, context);
}

std::string Guest::RealPath(const std::string& path, const support::Context& context) {
  return Query<std::string>(*this, request::RealPath{path}, context);
}

std::string Guest::ReadLink(const std::string& path, const support::Context& context) {
  return Query<std::string>(*this, request::ReadLink{path}, context);
}

FileSystemStatus Guest::StatFileSystem(const std::string& path, const support::Context& context) {
  return Query<FileSystemStatus>(*this, request::StatFileSystem{path}, context);
}

void Guest::Rename(const std::string& from, const std::string& to,
                   const support::Context& context) {
  Execute(*this, request::Rename{from, to}, context);
}

void Guest::Unlink(const std::string& path, const support::Context& context) {
  Execute(*this, request::Unlink{path}, context);
}

void Guest::MakeDirectory(const std::string& path, std::uint32_t permissions,
                          const support::Context& context) {
  try {
    Execute(*this, request::MakeDirectory{path, permissions}, context);
  } catch (const FileError& error) {
    ThrowWhyNotMade(*this, error, "make the directory", path, context);
  }
}

std::unique_ptr<OpenFile> Guest::Open(const std::string& path, OpenMode mode,
                                      std::uint32_t permissions, const support::Context& context) {
  try {
    auto handle = Query<Handle>(*this, request::Open{path, mode, permissions}, context);
    return std::make_unique<OpenFile>(OpenHandle(*this, std::move(handle)));
  } catch (const FileError& error) {
    if (mode != OpenMode::kCreateExclusive) throw;
    ThrowWhyNotMade(*this, error, "create", path, context);
  }
}

std::vector<DirectoryEntry> Guest::List(const std::string& path, const support::Context& context) {
  const OpenHandle directory(*this, Query<Handle>(*this, request::OpenDirectory{path}, context));
  return ReadNames(directory, context);
}

RealFile Guest::FindRealFile(const std::string& path, const support::Context& context) {
  std::vector<Reply> replies = RoundTrip({request::RealPath{path}, request::LStat{path}}, context);
  RealFile found{replies[0].As<std::string>(), std::nullopt};
  if (found.path != path) replies[1] = RoundTrip({request::LStat{found.path}}, context).front();
  if (!replies[1].Is(FileErrorCode::kNotFound)) found.attributes = replies[1].As<FileAttributes>();
  return found;
}

namespace {

class AnswerSink final : public shell::OutputSink {
 public:
  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream == shell::Stream::kOutput) answer += bytes;
    return answer.size() <= kMaximumScriptOutput;
  }

  std::string answer;
};

}  // namespace

ScriptOutput CaptureScript(Guest& guest, const std::string& script,
                           const support::Context& context) {
  AnswerSink sink;
  const std::optional<int> status = guest.RunScript(script, sink, context).exit_status;
  return {std::move(sink.answer), status};
}

}  // namespace guest
