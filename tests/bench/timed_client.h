#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "testing/child_process.h"

namespace bench {

/// A client that does as little as a client can, so that what is timed is the server: requests are
/// put together before the clock starts, answers are looked at after it has stopped.
class TimedClient {
 public:
  /// Starts the server and initializes it.
  explicit TimedClient(const testing_support::ChildProcess::Options& server);

  /// From the start of the program to the answer of `initialize`, in milliseconds.
  [[nodiscard]] double start_time() const { return start_time_; }

  /// Calls a tool; milliseconds until the whole answer has come. Throws std::runtime_error, with
  /// the answer, when it is not a good one.
  double Call(const std::string& tool, const nlohmann::json& arguments);

  /// `count` calls, each as soon as the one before is answered; the time of each. What is answered
  /// is looked at only after the last.
  std::vector<double> CallInARow(const std::string& tool, const nlohmann::json& arguments,
                                 int count);

  /// Sends `count` calls at once; milliseconds until the last answer has come.
  double CallAtOnce(const std::string& tool, const nlohmann::json& arguments, int count);

  [[nodiscard]] pid_t pid() const { return process_.pid(); }

 private:
  std::string Request(const std::string& method, const nlohmann::json& params);
  void Send(std::string_view text);
  /// The next line, which stays valid until the next call.
  std::string_view ReadLine();
  void RequireGood(std::string_view answer) const;

  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  testing_support::ChildProcess process_;
  std::int64_t next_id_ = 1;
  std::string buffer_;     // never shrinks: fresh memory is slow
  std::size_t begin_ = 0;  // of what was not yet returned
  std::size_t end_ = 0;    // of what was read
  double start_time_ = 0;
};

}  // namespace bench
