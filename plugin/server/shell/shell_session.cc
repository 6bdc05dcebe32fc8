// SPDX-License-Identifier: Apache-2.0
#include "shell/shell_session.h"

#include <algorithm>
#include <utility>

#include "support/regex.h"

namespace shell {
namespace {

constexpr std::size_t kMaxEarlyError = 1024;
/// What a profile may print.
constexpr std::size_t kMaxEarlyOutput = std::size_t{256} * 1024;

/// Bytes of one InputRequest. The watcher reads it byte by byte.
constexpr std::size_t kInputPiece = 8192;

}  // namespace

ShellSession::ShellSession(std::shared_ptr<SessionLock> session_lock, bool is_long_running)
    : session_lock_(std::move(session_lock)), is_long_running_(is_long_running) {}

void ShellSession::Launch(const std::string& program, std::shared_ptr<OutputSink> sink,
                          Launcher& launcher) {
  sink_ = std::move(sink);
  auto process = launcher.Start(std::string(kCommandLine), shared_from_this());
  process->Send(Bootstrap(marker_, launcher.prelude + program));
  const std::scoped_lock lock(session_lock_->mutex);
  if (!is_long_running() || !is_over()) process_ = std::move(process);
}

void ShellSession::Close() {
  reported_.state = State::kOver;
  process_.reset();
  session_lock_->changed.notify_all();
}

void ShellSession::BeginRequest(OutputSink& sink, bool has_profile) {
  reported_.state = State::kRunning;
  reported_.began = !has_profile;
  reported_.request_status.reset();
  error_ended_ = false;
  sink_ = std::shared_ptr<OutputSink>(std::shared_ptr<void>(), &sink);  // not owned
}

void ShellSession::FinishRequest() {
  if (sink_has_enough_) reported_.state = State::kOver;
  sink_ = nullptr;
}

bool ShellSession::request_is_done() const {
  if (reported_.end || sink_has_enough_) return true;
  return reported_.request_status || reported_.exit_status ? error_ended_
                                                           : reported_.state == State::kOver;
}

void ShellSession::AddInput(std::string_view bytes) {
  input_ += bytes;
  Pump();
}

void ShellSession::EndInput() {
  input_ends_ = true;
  Pump();
}

void ShellSession::Signal(std::string_view name) {
  if (process_ && reported_.was_ready) process_->Send(SignalRequest(name));
}

void ShellSession::Pump() {
  if (!process_ || !reported_.was_ready || input_is_under_way_) return;
  if (!input_.empty()) {
    const std::size_t length = std::min(input_.size(), kInputPiece);
    process_->Send(InputRequest(std::string_view(input_).substr(0, length)));
    input_.erase(0, length);
    input_is_under_way_ = true;
  } else if (input_ends_) {
    process_->Send(std::string(kEndInputRequest));
  }
}

void ShellSession::OnOutput(Stream stream, std::string_view bytes) {
  const std::scoped_lock lock(session_lock_->mutex);
  const bool is_output = stream == Stream::kOutput;
  (is_output ? output_ : error_)
      .Feed(
          bytes, [&](std::string_view own) { Deliver(stream, own); },
          [&](std::string_view words) {
            if (!is_output) {
              error_ended_ = true;
              GetReady();
            } else {
              Apply(words);
            }
            session_lock_->changed.notify_all();
          });
  if (is_long_running()) session_lock_->changed.notify_all();
}

void ShellSession::OnQueued() {
  const std::scoped_lock lock(session_lock_->mutex);
  reported_.was_queued = true;
  session_lock_->changed.notify_all();
}

void ShellSession::OnEnd(const ProcessEnd& end) {
  const std::scoped_lock lock(session_lock_->mutex);
  output_.Finish([&](std::string_view own) { Deliver(Stream::kOutput, own); });
  error_.Finish([&](std::string_view own) { Deliver(Stream::kError, own); });
  reported_.end = end;
  reported_.state = State::kOver;
  if (is_long_running()) process_.reset();
  session_lock_->changed.notify_all();
}

void ShellSession::OnClosed() {
  const std::scoped_lock lock(session_lock_->mutex);
  reported_.closed = true;
}

void ShellSession::Deliver(Stream stream, std::string_view own) {
  if (reported_.state == State::kStarting) return KeepEarly(stream, own);
  if (!reported_.was_ready || !sink_ || sink_has_enough_) return;
  const bool output_ended = reported_.request_status || reported_.exit_status;
  const bool has_ended = stream == Stream::kOutput ? output_ended : error_ended_;
  if (has_ended || sink_->OnOutput(stream, own)) return;
  sink_has_enough_ = true;
  session_lock_->changed.notify_all();
}

void ShellSession::KeepEarly(Stream stream, std::string_view own) {
  early_output_ += own.size();
  std::string& kept = reported_.early_error;
  if (stream == Stream::kError || is_long_running()) {
    kept += own.substr(0, kMaxEarlyError - kept.size());
  }
  if (early_output_ <= kMaxEarlyOutput) return;
  kept = "it prints without end instead";
  reported_.state = State::kOver;
  session_lock_->changed.notify_all();
}

void ShellSession::GetReady() {
  const bool is_ready = ready_reported_ && (error_ended_ || is_long_running());
  if (reported_.state != State::kStarting || !is_ready) return;
  reported_.was_ready = true;
  reported_.state = State::kReady;
  Pump();
}

void ShellSession::Apply(std::string_view words) {
  static const support::Regex ended(R"(ended (\d+))");
  static const support::Regex done(R"((\d+))");
  State& state = reported_.state;
  int status = 0;
  if (words == "stopped") {
    reported_.stopped = true;
    state = State::kOver;
  } else if (state == State::kOver) {
    return;
  } else if (words == "ready" || words == "began") {
    reported_.began = true;
    ready_reported_ = true;
    GetReady();
  } else if (ended.FullMatch(words, &status)) {
    reported_.exit_status = status;
    state = State::kOver;
    if (is_long_running()) process_.reset();
  } else if (state == State::kRunning && done.FullMatch(words, &status)) {
    reported_.request_status = status;
    state = State::kSettling;
  } else if (words == "free" && state == State::kSettling) {
    state = State::kReady;
  } else if (words == "left") {
    reported_.left = true;
    state = State::kOver;
  } else if (words == "took") {
    input_is_under_way_ = false;
    Pump();
  }
}

}  // namespace shell
