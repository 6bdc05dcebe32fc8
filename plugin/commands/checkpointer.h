// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mcp/outcome.h"
#include "support/context.h"

namespace commands {

struct CheckpointTimes {
  support::Clock::duration quiet = std::chrono::seconds(2);     ///< after the last call
  support::Clock::duration running = std::chrono::seconds(30);  ///< then a call counts as ended
  support::Clock::duration limit = std::chrono::seconds(10);    ///< none is made after one longer
  support::Clock::duration delay = std::chrono::seconds(1);     ///< a call waits no longer for one
  int pause = 50;  ///< how many times longer than one took the next must wait
};

/// Makes checkpoints of a served copy: some time after the last call that may change something has
/// ended, while none runs. A call that runs for long counts as ended.
class Checkpointer {
 public:
  /// Makes one with a note; throws support::Error. Called by a thread of its own.
  using Make = std::function<void(const std::string& note, const support::Context& context)>;

  /// `root`: the project, without which paths are shown.
  Checkpointer(std::string root, Make make, const CheckpointTimes& times = {});
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// See mcp::CallObserver.
  void Observe(const mcp::ObservedCall& call, const mcp::Outcome* end);

 private:
  void Run();
  /// Whether `limit` was kept.
  bool MakeOne(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] support::Clock::time_point Due() const;

  const std::string root_;
  const Make make_;
  const CheckpointTimes times_;
  support::StopSource stop_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::uint64_t, support::Clock::time_point> running_;  ///< when they began, by number
  std::vector<std::string> calls_;                               ///< since the last checkpoint
  support::Clock::time_point quiet_until_;
  support::Clock::time_point pause_until_;
  bool is_making_ = false;
  bool is_closing_ = false;
  std::thread thread_;
};

/// `"npm test"`, `replace src/a.ts`: a call in a note.
std::string DescribeCall(const mcp::ObservedCall& call, const std::string& root);

}  // namespace commands
