#include "connection/path_questions.h"

#include <sstream>
#include <string_view>

#include "connection/script_answer.h"
#include "support/paths.h"
#include "support/printable.h"
#include "tools/shell_quote.h"

namespace connection {
namespace {

/// Bytes of an answer that makes no sense, in the text that says so.
constexpr std::size_t kShown = 80;

constexpr int kCommandNotFound = 127;

[[noreturn]] void ThrowImpossible(const std::string& operation, const std::string& path) {
  throw guest::FileError(guest::FileErrorCode::kFailure, operation, path,
                         "the guest answered with a path that cannot exist");
}

/// What no guest can use is not carried any further.
void RequireUsableLength(const std::string& answer, const std::string& operation,
                         const std::string& path) {
  if (answer.size() <= kLongestPath) return;
  throw guest::FileError(guest::FileErrorCode::kFailure, operation, path,
                         "the guest answered with a path of " + std::to_string(answer.size()) +
                             " bytes, and none of more than " + std::to_string(kLongestPath) +
                             " can be used there");
}

/// What is resolved is compared with the roots as text.
void RequireRealPath(const std::string& real, const std::string& path) {
  RequireUsableLength(real, "resolve", path);
  if (!real.starts_with('/') || support::CleanPath(real) != real ||
      real.find('\0') != std::string::npos) {
    ThrowImpossible("resolve", path);
  }
}

}  // namespace

template <typename Ask, typename Otherwise>
auto PathQuestions::AskEither(Ask ask, Otherwise otherwise) {
  if (by_shell_) return otherwise();
  try {
    return ask();
  } catch (const guest::NoFileServer& missing) {
    try {
      auto answer = otherwise();
      by_shell_ = true;
      return answer;
    } catch (const guest::FileError&) {
      throw;
    } catch (const support::ConnectionLost&) {
      throw;
    } catch (const support::Stopped&) {
      throw;
    } catch (const support::CallError&) {
      // Commands do not work either: why the server cannot be started says more.
      throw guest::NoFileServer(missing.what());
    }
  }
}

std::string PathQuestions::AskShell(const std::string& script, const std::string& path,
                                    const support::Context& context) {
  ScriptAnswer answer = AskScript(*guest_, script, context);
  if (answer.exit_status == kCommandNotFound) {
    throw support::CallError(
        "the guest has neither an SFTP server nor the commands readlink and "
        "stat: install one of them");
  }
  if (answer.exit_status != 0 || !answer.output.ends_with('\n')) {
    throw guest::FileError(guest::FileErrorCode::kNotFound, "look at", path, "");
  }
  answer.output.pop_back();
  return std::move(answer.output);
}

guest::FileAttributes PathQuestions::StatByShell(const std::string& path,
                                                 const std::string& options,
                                                 const support::Context& context) {
  const std::string answer = AskShell(
      "stat " + options + " -c '%f %s %u %g %Y' -- " + tools::ShellQuote(path), path, context);
  std::istringstream fields(answer);
  std::uint32_t mode = 0;
  guest::FileAttributes attributes;
  fields >> std::hex >> mode >> std::dec >> attributes.size >> attributes.user_id >>
      attributes.group_id >> attributes.modified;
  if (!fields) {
    throw guest::FileError(
        guest::FileErrorCode::kFailure, "look at", path,
        "stat says \"" + support::Printable(std::string_view(answer).substr(0, kShown)) + "\"");
  }
  attributes.type = guest::FileTypeOf(mode);
  attributes.permissions = mode & 07777U;
  return attributes;
}

guest::FileAttributes PathQuestions::Stat(const std::string& path,
                                          const support::Context& context) {
  return AskEither([&] { return guest_->Stat(path, context); },
                   [&] { return StatByShell(path, "-L", context); });
}

guest::FileAttributes PathQuestions::LStat(const std::string& path,
                                           const support::Context& context) {
  return AskEither([&] { return guest_->LStat(path, context); },
                   [&] { return StatByShell(path, "", context); });
}

std::string PathQuestions::ReadLink(const std::string& path, const support::Context& context) {
  std::string target =
      AskEither([&] { return guest_->ReadLink(path, context); },
                [&] { return AskShell("readlink -- " + tools::ShellQuote(path), path, context); });
  RequireUsableLength(target, "read the link", path);
  if (target.empty() || target.find('\0') != std::string::npos) {
    ThrowImpossible("read the link", path);
  }
  return target;
}

std::string PathQuestions::RealPath(const std::string& path, const support::Context& context) {
  std::string real = AskEither(
      [&] { return guest_->RealPath(path, context); },
      [&] { return AskShell("readlink -f -- " + tools::ShellQuote(path), path, context); });
  RequireRealPath(real, path);
  return real;
}

guest::RealFile PathQuestions::FindRealFile(const std::string& path,
                                            const support::Context& context) {
  guest::RealFile found = AskEither([&] { return guest_->FindRealFile(path, context); },
                                    [&] { return Guest::FindRealFile(path, context); });
  RequireRealPath(found.path, path);
  return found;
}

guest::FoundDirectory PathQuestions::FindAndList(const std::string& path,
                                                 const support::Context& context) {
  guest::FoundDirectory found = guest_->FindAndList(path, context);
  RequireRealPath(found.file.path, path);
  return found;
}

guest::FoundFile PathQuestions::FindAndRead(const std::string& path, std::uint64_t most_bytes,
                                            const support::Context& context) {
  guest::FoundFile found = guest_->FindAndRead(path, most_bytes, context);
  RequireRealPath(found.file.path, path);
  return found;
}

std::unique_ptr<guest::OpenFile> PathQuestions::Open(const std::string& path, guest::OpenMode mode,
                                                     std::uint32_t permissions,
                                                     const support::Context& context) {
  return guest_->Open(path, mode, permissions, context);
}

std::vector<guest::DirectoryEntry> PathQuestions::List(const std::string& path,
                                                       const support::Context& context) {
  return guest_->List(path, context);
}

std::optional<std::vector<guest::DirectoryEntry>> PathQuestions::ListSmall(
    const std::string& path, std::uint64_t directory_bytes, const support::Context& context) {
  return guest_->ListSmall(path, directory_bytes, context);
}

void PathQuestions::MakeDirectory(const std::string& path, std::uint32_t permissions,
                                  const support::Context& context) {
  guest_->MakeDirectory(path, permissions, context);
}

void PathQuestions::Rename(const std::string& from, const std::string& to,
                           const support::Context& context) {
  guest_->Rename(from, to, context);
}

void PathQuestions::Unlink(const std::string& path, const support::Context& context) {
  guest_->Unlink(path, context);
}

guest::FileSystemStatus PathQuestions::StatFileSystem(const std::string& path,
                                                      const support::Context& context) {
  return guest_->StatFileSystem(path, context);
}

guest::CommandResult PathQuestions::Run(const guest::Command& command, guest::OutputSink& sink,
                                        const support::Context& context) {
  return guest_->Run(command, sink, context);
}

std::unique_ptr<guest::WaitingCommand> PathQuestions::StartWaiting(
    guest::Command command, std::shared_ptr<guest::OutputSink> sink) {
  return guest_->StartWaiting(std::move(command), std::move(sink));
}

}  // namespace connection
