#include "ssh/connection.h"

#include <system_error>
#include <utility>

#include "ssh/find_operation.h"
#include "ssh/remote_file.h"
#include "ssh/spare_command.h"
#include "ssh/waiting_command.h"

namespace ssh {
namespace {

void RequirePossible(const guest::Command& command) {
  if (command.command_line.size() > guest::kMaximumCommandLine) {
    throw support::CallError("the command line has " + std::to_string(command.command_line.size()) +
                             " bytes, at most " + std::to_string(guest::kMaximumCommandLine) +
                             " are possible: put long input into a file or on standard input");
  }
  if (command.command_line.find('\0') != std::string::npos) {
    throw support::CallError("a command line cannot contain a NUL byte");
  }
}

}  // namespace

Connection::Connection(std::shared_ptr<SessionLoop> loop)
    : loop_(std::move(loop)), spare_command_(std::make_shared<SpareCommand>(loop_)) {}

Connection::~Connection() = default;

std::shared_ptr<Connection> Connection::Open(const Endpoint& endpoint,
                                             const ConnectionOptions& options,
                                             const support::Context& context) {
  context.ThrowIfStopped();
  try {
    auto loop = std::make_shared<SessionLoop>(endpoint, options);
    loop->Connect(context);
    return std::shared_ptr<Connection>(new Connection(std::move(loop)));  // private constructor
  } catch (const std::system_error& error) {
    throw support::CallError(
        "no connection to the guest can be made: this host gives no further thread or file "
        "descriptor (" +
        error.code().message() + "); call again in a while");
  }
}

bool Connection::alive() const {
  return loop_->alive();
}

guest::FileAttributes Connection::Stat(const std::string& path, const support::Context& context) {
  const SftpSubject subject{"stat", path};
  return Expect<guest::FileAttributes>(
      Ask(*loop_, subject, PathRequest(SftpType::kStat, path), context), subject);
}

guest::FileAttributes Connection::LStat(const std::string& path, const support::Context& context) {
  const SftpSubject subject{"stat", path};
  return Expect<guest::FileAttributes>(
      Ask(*loop_, subject, PathRequest(SftpType::kLStat, path), context), subject);
}

std::string Connection::ReadLink(const std::string& path, const support::Context& context) {
  const SftpSubject subject{"read the link", path};
  return OnlyName(Ask(*loop_, subject, PathRequest(SftpType::kReadLink, path), context), subject);
}

std::string Connection::RealPath(const std::string& path, const support::Context& context) {
  const SftpSubject subject{"resolve", path};
  return OnlyName(Ask(*loop_, subject, PathRequest(SftpType::kRealPath, path), context), subject);
}

guest::RealFile Connection::FindRealFile(const std::string& path, const support::Context& context) {
  const auto find = std::make_shared<FindOperation>(path);
  loop_->Run(find, context);
  return std::move(find->found);
}

guest::FoundDirectory Connection::FindAndList(const std::string& path,
                                              const support::Context& context) {
  const auto find = std::make_shared<FindAndListOperation>(path);
  loop_->Run(find, context);
  return std::move(find->found);
}

guest::FoundFile Connection::FindAndRead(const std::string& path, std::uint64_t most_bytes,
                                         const support::Context& context) {
  const auto find = std::make_shared<FindAndReadOperation>(path, most_bytes);
  loop_->Run(find, context);
  return std::move(find->found);
}

bool Connection::Exists(const std::string& path, const support::Context& context) {
  try {
    LStat(path, context);
  } catch (const guest::FileError&) {
    return false;  // or not to be seen: the first error then stands
  }
  return true;
}

std::unique_ptr<guest::OpenFile> Connection::Open(const std::string& path, guest::OpenMode mode,
                                                  std::uint32_t permissions,
                                                  const support::Context& context) {
  try {
    return OpenRemoteFile(loop_, path, mode, permissions, context);
  } catch (const guest::FileError& error) {
    // SFTP version 3 has no code for it.
    if (mode != guest::OpenMode::kCreateExclusive ||
        error.code() != guest::FileErrorCode::kFailure || !Exists(path, context)) {
      throw;
    }
    throw guest::FileError(guest::FileErrorCode::kAlreadyExists, "create", path, "");
  }
}

std::vector<guest::DirectoryEntry> Connection::List(const std::string& path,
                                                    const support::Context& context) {
  const auto list = std::make_shared<ListOperation>(path);
  loop_->Run(list, context);
  return std::move(list->entries);
}

std::optional<std::vector<guest::DirectoryEntry>> Connection::ListSmall(
    const std::string& path, std::uint64_t directory_bytes, const support::Context& context) {
  const auto list = std::make_shared<SmallListOperation>(path, directory_bytes);
  loop_->Run(list, context);
  return std::move(list->entries);
}

void Connection::MakeDirectory(const std::string& path, std::uint32_t permissions,
                               const support::Context& context) {
  try {
    Ask(*loop_, {"make the directory", path}, MakeDirectoryRequest(path, permissions), context);
  } catch (const guest::FileError& error) {
    if (error.code() != guest::FileErrorCode::kFailure || !Exists(path, context)) throw;
    throw guest::FileError(guest::FileErrorCode::kAlreadyExists, "make the directory", path, "");
  }
}

void Connection::Rename(const std::string& from, const std::string& to,
                        const support::Context& context) {
  Ask(*loop_, {"rename", from + " to " + to}, ExtendedRequest(kPosixRenameExtension, {from, to}),
      context, kPosixRenameExtension);
}

void Connection::Unlink(const std::string& path, const support::Context& context) {
  Ask(*loop_, {"remove", path}, PathRequest(SftpType::kRemove, path), context);
}

guest::FileSystemStatus Connection::StatFileSystem(const std::string& path,
                                                   const support::Context& context) {
  const SftpSubject subject{"ask about the file system of", path};
  const auto reply =
      Expect<SftpExtendedReply>(Ask(*loop_, subject, ExtendedRequest(kFileSystemExtension, {path}),
                                    context, kFileSystemExtension),
                                subject);
  try {
    return DecodeFileSystemStatus(reply.body);
  } catch (const SftpProtocolError& error) {
    throw guest::FileError(guest::FileErrorCode::kFailure, subject.operation, path, error.what());
  }
}

guest::CommandResult Connection::Run(const guest::Command& command, guest::OutputSink& sink,
                                     const support::Context& context) {
  RequirePossible(command);
  std::optional<guest::CommandResult> result;
  if (command.may_be_started_ahead) result = spare_command_->Run(command, sink, context);
  if (!result) {
    const auto run = std::make_shared<CommandRun>(command, sink, loop_->request_timeout());
    loop_->Run(run, context);
    result = run->result();
  }
  if (command.may_be_started_ahead) {
    spare_command_->StartNext(command);
  } else if (!command.changes_nothing) {
    spare_command_->Renew();
  }
  return *result;
}

std::unique_ptr<guest::WaitingCommand> Connection::StartWaiting(
    guest::Command command, std::shared_ptr<guest::OutputSink> sink) {
  RequirePossible(command);
  WaitingCommand::Options options;
  options.delay = command.start_delay;
  if (!command.changes_nothing) {
    options.on_finished = [spare = spare_command_] { spare->Renew(); };
  }
  return WaitingCommand::Start(loop_, std::move(command), std::move(sink), std::move(options));
}

}  // namespace ssh
