// SPDX-License-Identifier: Apache-2.0
#include "testing/local_guest.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "support/file_descriptor.h"

extern char** environ;  // which macOS declares nowhere

namespace testing_support {

std::string Name(guest::Operation operation) {
  constexpr std::array kNames = {
      "LStat",         "RealPath", "ReadLink", "StatFileSystem", "Open", "OpenDirectory",
      "MakeDirectory", "Rename",   "Unlink",   "StatOpen",       "Read", "Write",
      "SetAttributes", "Sync",     "Close",    "ReadDirectory"};
  return kNames.at(static_cast<std::size_t>(operation));
}

shell::RunEnd Print(shell::OutputSink& sink, std::string_view output,
                    std::optional<int> exit_status) {
  sink.OnOutput(shell::Stream::kOutput, output);
  shell::RunEnd end;
  end.exit_status = exit_status;
  return end;
}

void LocalGuest::OfferOnly(const std::filesystem::path& directory,
                           const std::vector<std::pair<std::string, std::string>>& programs) {
  std::filesystem::create_directories(directory);
  for (const auto& [name, program] : programs) {
    std::filesystem::create_symlink(program, directory / name);
  }
  setup = "PATH=" + directory.string() + "; export PATH; " + setup;
}

int LocalGuest::count(guest::Operation operation) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(operation);
  return found == counts_.end() ? 0 : found->second;
}

int LocalGuest::total() const {
  const std::lock_guard lock(mutex_);
  int sum = runs_;
  for (const auto& [operation, count] : counts_) sum += count;
  return sum;
}

std::string LocalGuest::counts() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [operation, count] : counts_) {
    if (!text.empty()) text += ", ";
    text += Name(operation) + " " + std::to_string(count);
  }
  if (runs_ > 0) text += (text.empty() ? "Run " : ", Run ") + std::to_string(runs_);
  return text;
}

int LocalGuest::round_trips() const {
  const std::lock_guard lock(mutex_);
  return round_trips_;
}

std::size_t LocalGuest::server_reads() const {
  const std::lock_guard lock(mutex_);
  return server_reads_;
}

void LocalGuest::ResetCounts() {
  const std::lock_guard lock(mutex_);
  server_reads_ = 0;
  counts_.clear();
  runs_ = 0;
  round_trips_ = 0;
}

std::size_t LocalGuest::open_handles() const {
  const std::lock_guard lock(mutex_);
  return opened_.size();
}

std::vector<guest::Reply> LocalGuest::RoundTrip(const std::vector<guest::Request>& requests,
                                                const support::Context& context) {
  {
    const std::lock_guard lock(mutex_);
    ++round_trips_;
    constexpr std::size_t kMaxRead = 261'120;
    for (const guest::Request& request : requests) {
      if (request.operation != guest::Operation::kRead) continue;
      server_reads_ += (request.length + kMaxRead - 1) / kMaxRead;
    }
  }
  std::vector<guest::Reply> replies;
  try {
    for (const guest::Request& request : requests) {
      try {
        replies.push_back(ReplyTo(request, context));
        CheckPath(request, replies.back());
      } catch (const guest::FileError& error) {
        replies.push_back({{}, error});
      }
    }
  } catch (...) {
    for (const guest::Reply& reply : replies) {
      if (const auto* handle = std::get_if<guest::Handle>(&reply.value)) CloseLater(*handle);
    }
    // The requests after the one that threw.
    for (std::size_t i = replies.size() + 1; i < requests.size(); ++i) {
      if (requests[i].operation == guest::Operation::kClose) CloseLater(requests[i].handle);
    }
    throw;
  }
  return replies;
}

guest::Reply LocalGuest::ReplyTo(const guest::Request& request, const support::Context& context) {
  using Kind = guest::Operation;
  const Kind kind = request.operation;
  LocalFile none;
  std::shared_ptr<LocalFile> file;
  if (!request.handle.value.empty()) file = Find(request.handle);
  if (kind == Kind::kClose) CloseLater(request.handle);
  if (kind == Kind::kSync && !offers_sync_) {
    throw guest::FileError(guest::FileErrorCode::kUnsupported, "sync", request.path, "");
  }
  if (kind != Kind::kReadDirectory) {
    Begin(kind, request.path, context);
  }
  const bool opens = kind == Kind::kOpen || kind == Kind::kOpenDirectory;
  std::optional<guest::Reply> reply = reply_ ? reply_(request, context) : std::nullopt;
  if (opens) {
    if (!reply) return {Keep(request.path, OpenHere(request)), {}};
    if (!reply->failure) reply->value = Keep(request.path, {});
  }
  if (reply) return std::move(*reply);
  return ReplyHere(request, file ? *file : none);
}

guest::Handle LocalGuest::Keep(const std::string& path, LocalFile file) {
  const std::lock_guard lock(mutex_);
  guest::Handle handle{std::to_string(next_handle_++), 1, path};
  opened_[handle.value] = std::make_shared<LocalFile>(std::move(file));
  return handle;
}

std::shared_ptr<LocalFile> LocalGuest::Find(const guest::Handle& handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = opened_.find(handle.value);
  if (found == opened_.end()) {
    throw guest::FileError(guest::FileErrorCode::kFailure, "use the handle of", handle.path, "");
  }
  return found->second;
}

void LocalGuest::CloseLater(const guest::Handle& handle) noexcept {
  const std::lock_guard lock(mutex_);
  ++closed_handles_;
  opened_.erase(handle.value);
}

void LocalGuest::Begin(guest::Operation operation, const std::string& path,
                       const support::Context& context) {
  if (path.find('\0') != std::string::npos) throw std::logic_error("NUL in a guest path");
  context.ThrowIfStopped();
  {
    const std::lock_guard lock(mutex_);
    ++counts_[operation];
  }
  const Hook hook = hook_;  // a hook may take itself away
  if (hook) hook(operation, path);
}

void LocalGuest::BeginRun(const std::string& text, const support::Context& context) {
  if (text.find('\0') != std::string::npos) throw std::logic_error("NUL in a script");
  context.ThrowIfStopped();
  ++runs_;
  const std::lock_guard lock(mutex_);
  ++round_trips_;
}

shell::RunEnd LocalGuest::Shells::RunScript(const shell::Script& script, shell::OutputSink& sink,
                                            const support::Context& context) {
  guest_.BeginRun(script.text, context);
  return guest_.run_ ? guest_.run_(script, sink, context) : guest_.RunHere(script, sink, context);
}

shell::RunEnd LocalGuest::RunHere(const shell::Script& script, shell::OutputSink& sink,
                                  const support::Context& context) {
  return shell::Shells(*this).RunScript(script, sink, context);
}

shell::RunEnd LocalGuest::Shells::RunCommand(const shell::LoginCommand& command,
                                             shell::OutputSink& sink,
                                             const support::Context& context) {
  guest_.BeginRun(command.text, context);
  if (guest_.run_) return guest_.run_({command.text}, sink, context);
  return shell::Shells(guest_).RunCommand(command, sink, context);
}

std::unique_ptr<shell::Process> LocalGuest::Start(std::string command_line,
                                                  std::shared_ptr<shell::ProcessEvents> events) {
  LocalLauncher::Options options;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    options.environment.emplace_back(*variable);
  }
  auto launcher = std::make_unique<LocalLauncher>(std::move(options));
  auto process = launcher->Start(setup + command_line, std::move(events));
  const std::lock_guard lock(mutex_);
  launchers_.push_back(std::move(launcher));
  return process;
}

}  // namespace testing_support
