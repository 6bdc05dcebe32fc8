// SPDX-License-Identifier: Apache-2.0
#include "commands/checkpointer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/log.h"
#include "support/printable.h"
#include "support/units.h"
#include "support/utf8.h"

namespace commands {
namespace {

using support::Clock;
using support::Format;

constexpr std::size_t kMaxCall = 60;  ///< bytes of a call in a note
constexpr std::size_t kMaxCalls = 3;  ///< that a note names

std::string NoteOn(std::vector<std::string> calls) {
  const std::size_t more = calls.size() - std::min(calls.size(), kMaxCalls);
  calls.resize(calls.size() - more);
  if (more > 0) calls.push_back(support::Count(more, "more call"));
  return support::Join(calls, "; ");
}

}  // namespace

std::string DescribeCall(const mcp::ObservedCall& call, const std::string& root) {
  const auto shown = [](const std::string& text) {
    const std::string line = support::Printable(text);
    return line.size() <= kMaxCall
               ? line
               : std::string(support::CutText(line, kMaxCall - std::string_view("...").size())) +
                     "...";
  };
  const auto command = call.arguments.find("command");
  if (command != call.arguments.end() && command->is_array())
    return '"' + shown(shell::ShellCommand(*command)) + '"';
  std::string path = call.arguments.value("path", "");
  if (path.starts_with(root + "/")) path.erase(0, root.size() + 1);
  return shown(std::string(call.tool) + (path.empty() ? "" : " " + path));
}

Checkpointer::Checkpointer(std::string root, Make make, const CheckpointTimes& times)
    : root_(std::move(root)), make_(std::move(make)), times_(times), thread_([this] { Run(); }) {}

Checkpointer::~Checkpointer() {
  stop_.Stop(support::StopReason::kEndOfInput);
  {
    const std::scoped_lock lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Checkpointer::Observe(const mcp::ObservedCall& call, const mcp::Outcome* end) {
  std::unique_lock lock(mutex_);
  if (end == nullptr) {
    changed_.wait_for(lock, times_.delay, [&] { return !is_making_; });
    running_[call.number] = Clock::now();
  } else if (running_.erase(call.number) == 0) {
    return;  // it changes nothing, or was refused
  }
  // At its end again, if one was made while it ran.
  const std::string text = DescribeCall(call, root_);
  if (calls_.empty() || (end == nullptr && calls_.back() != text)) calls_.push_back(text);
  quiet_until_ = Clock::now() + times_.quiet;
  changed_.notify_all();
}

Clock::time_point Checkpointer::Due() const {
  Clock::time_point due = std::max(quiet_until_, pause_until_);
  for (const auto& [number, began] : running_) due = std::max(due, began + times_.running);
  return due;
}

void Checkpointer::Run() {
  std::unique_lock lock(mutex_);
  while (!is_closing_) {
    const Clock::time_point due = Due();
    if (calls_.empty()) {
      changed_.wait(lock);
    } else if (Clock::now() < due) {
      changed_.wait_until(lock, due);
    } else if (!MakeOne(lock)) {
      return;
    }
  }
}

bool Checkpointer::MakeOne(std::unique_lock<std::mutex>& lock) {
  const std::string note = NoteOn(std::exchange(calls_, {}));
  is_making_ = true;
  lock.unlock();
  const auto began = Clock::now();
  try {
    make_(note, stop_.context().WithTimeout(times_.limit));
  } catch (const support::Error& error) {
    support::LogInfo(Format("no checkpoint: {}", error.what()));
  }
  const auto took = Clock::now() - began;
  lock.lock();
  is_making_ = false;
  pause_until_ = Clock::now() + times_.pause * took;
  changed_.notify_all();
  if (took < times_.limit || is_closing_) return true;
  support::LogWarning(
      "a checkpoint took too long, so this server makes no more; `limactl mcp log` makes one");
  return false;
}

}  // namespace commands
