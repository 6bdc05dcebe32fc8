#include "guest/guest.h"

#include <array>
#include <utility>

#include "support/paths.h"

namespace guest {
namespace {

/// By FileErrorCode.
constexpr std::array kReasons = {"no such file or directory", "permission denied", "file exists",
                                 "operation not supported by the guest's SFTP server", "failure"};

/// Executes a request that makes `path`. SFTP version 3 has no code for kAlreadyExists, so after
/// kFailure it checks whether the name is taken.
Reply ExecuteToMake(const Request& request, const char* operation, Guest& guest,
                    const support::Context& context) {
  Reply reply = guest.Execute(request, context);
  if (reply.Is(FileErrorCode::kFailure) &&
      !guest.Execute(Request::LStat(request.path), context).failure) {
    reply.failure.emplace(FileErrorCode::kAlreadyExists, operation, request.path, "");
  }
  return reply;
}

class OutputOfScript final : public shell::OutputSink {
 public:
  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream == shell::Stream::kOutput) output += bytes;
    return output.size() <= kMaxScriptOutput;
  }

  std::string output;
};

}  // namespace

FileError::FileError(FileErrorCode code, const std::string& operation, const std::string& path,
                     const std::string& detail)
    : CallError(operation + " " + path + ": " + kReasons.at(static_cast<std::size_t>(code)) +
                (detail.empty() ? "" : " (" + detail + ")")),
      code_(code),
      detail_(detail) {}

FileType FileTypeOf(std::uint32_t mode) {
  using enum FileType;
  constexpr std::array kByType = {
      kUnknown, kFifo,    kCharacterDevice, kUnknown, kDirectory, kUnknown, kBlockDevice, kUnknown,
      kRegular, kUnknown, kSymlink,         kUnknown, kSocket,    kUnknown, kUnknown,     kUnknown};
  return kByType.at(mode >> 12U & 0xFU);
}

void CheckPath(const Request& request, Reply& reply) {
  const bool resolves = request.operation == Operation::kRealPath;
  if (reply.failure || (!resolves && request.operation != Operation::kReadLink)) return;
  const std::string& path = reply.As<std::string>();
  std::string problem;
  // Resolved paths are compared with roots as text.
  const bool is_clean = !resolves || (path.starts_with('/') && support::CleanPath(path) == path);
  if (path.size() > kMaxPath) {
    problem = "the guest sent a path of " + std::to_string(path.size()) + " bytes; at most " +
              std::to_string(kMaxPath) + " are allowed";
  } else if (path.empty() || path.find('\0') != std::string::npos || !is_clean) {
    problem = "the guest sent an invalid path";
  } else {
    return;
  }
  reply.failure.emplace(FileErrorCode::kFailure, resolves ? "resolve" : "read the link",
                        request.path, problem);
}

void Guest::MakeDirectory(const std::string& path, std::uint32_t permissions,
                          const support::Context& context) {
  ExecuteToMake(Request::MakeDirectory(path, permissions), "make the directory", *this, context)
      .RequireSuccess();
}

std::unique_ptr<OpenFile> Guest::Open(const std::string& path, OpenMode mode,
                                      std::uint32_t permissions, const support::Context& context) {
  const Request request = Request::Open(path, mode, permissions);
  Reply reply = mode == OpenMode::kCreateExclusive
                    ? ExecuteToMake(request, "create", *this, context)
                    : Execute(request, context);
  return std::make_unique<OpenFile>(OpenHandle(*this, std::move(reply.As<Handle>())));
}

RealFile Guest::FindRealFile(const std::string& path, const support::Context& context) {
  std::vector<Reply> replies = RoundTrip({Request::RealPath(path), Request::LStat(path)}, context);
  RealFile found{replies[0].As<std::string>(), std::nullopt};
  if (found.path != path) replies[1] = Execute(Request::LStat(found.path), context);
  if (!replies[1].Is(FileErrorCode::kNotFound)) found.attributes = replies[1].As<FileAttributes>();
  return found;
}

void OpenFile::Write(std::uint64_t offset, std::string_view bytes,
                     const support::Context& context) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxTransfer);
    Execute(Request::Write(*handle_, offset, piece), context).RequireSuccess();
    offset += piece.size();
    bytes.remove_prefix(piece.size());
  }
}

FileBeginning OpenFile::ReadBeginning(std::size_t length, const support::Context& context) {
  std::vector<Reply> replies = handle_.guest().RoundTrip(
      {Request::StatOpen(*handle_), Request::Read(*handle_, 0, length)}, context);
  return {replies[0].As<FileAttributes>(), std::move(replies[1].As<std::string>())};
}

void OpenFile::WriteAndClose(std::string_view bytes, std::optional<std::uint32_t> permissions,
                             const support::Context& context) {
  const std::size_t last = bytes.empty() ? 0 : (bytes.size() - 1) / kMaxTransfer * kMaxTransfer;
  Write(0, bytes.substr(0, last), context);
  Guest& guest = handle_.guest();
  const Handle handle = handle_.Release();
  std::vector<Request> requests;
  if (!bytes.empty()) requests.push_back(Request::Write(handle, last, bytes.substr(last)));
  if (permissions) requests.push_back(Request::SetAttributes(handle, {permissions, std::nullopt}));
  requests.push_back(Request::Sync(handle));
  const std::size_t sync = requests.size() - 1;
  requests.push_back(Request::Close(handle));
  std::vector<Reply> replies = guest.RoundTrip(std::move(requests), context);
  if (replies[sync].Is(FileErrorCode::kUnsupported)) replies[sync].failure.reset();
  for (const Reply& reply : replies) reply.RequireSuccess();
}

ScriptOutput CaptureScript(Guest& guest, const std::string& script,
                           const support::Context& context) {
  OutputOfScript sink;
  const std::optional<int> status = guest.RunScript(script, sink, context).exit_status;
  return {std::move(sink.output), status};
}

}  // namespace guest
