#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "testing/guest_processes.h"
#include "testing/loopback_instance.h"
#include "testing/mcp_client.h"
#include "testing/tcp_proxy.h"

namespace integration {

/// What a server is doing when a fault strikes.
enum class State { kIdle, kInACommand, kInARead, kInAWrite, kQueued };

inline constexpr std::array kStates = {State::kIdle, State::kInACommand, State::kInARead,
                                       State::kInAWrite, State::kQueued};

std::string_view Name(State state);

/// How a call ended.
struct Ending {
  bool well = false;  ///< the tool did what it is for; a command has ended with 0
  std::string text;   ///< of the error, or the result
  std::chrono::milliseconds took{0};
};

/// One server in one state, with an instance of its own and a line between them that can be held
/// and cut. One thread at a time.
class Cell {
 public:
  /// What the command of kInACommand does once it has told its process id.
  static constexpr const char* kSleeps = "sleep 300 & sleep 300";
  /// … until Go() is called.
  static constexpr const char* kWaits = "while ! test -e \"$control/go\"; do sleep 0.05; done";

  /// `root` is the only mount of `instance`, `control` a directory outside of it; both exist.
  Cell(State state, testing_support::LoopbackInstance& instance, std::filesystem::path root,
       std::filesystem::path control);

  /// From here on connections go straight to sshd, or through the line that can be disturbed.
  void DialSshd() const { WritePort(instance_.port()); }
  void DialLine() const { WritePort(line_.port()); }

  struct Calls {
    std::string script = kSleeps;  ///< of the command of kInACommand
    /// kInAWrite: whether the file has been opened, and a part of the content written.
    bool write_has_begun = true;
    /// What kIdle does once the fault has struck.
    std::string first_call = "read_file";
  };

  /// The server of this cell, which must outlive it.
  void Attach(testing_support::McpClient& client) { client_ = &client; }

  /// Brings the server into the state; what it does by then is certain, not likely.
  void Enter(Calls calls);

  /// The fault has struck: lets go what was held back to bring the state about, and makes the call
  /// that kIdle has not made yet.
  void GoOn();

  void WaitUntilServerLeavesLine();

  /// Ends the command that waits for it.
  void Go() const;

  /// Waits for the call that was under way.
  Ending End(std::chrono::milliseconds limit);

  /// One more call.
  Ending Call(const std::string& tool, const nlohmann::json& arguments,
              std::chrono::milliseconds limit = testing_support::McpClient::kDefaultTimeout);
  Ending ReadSmallFile();
  Ending WriteSmallFile();
  Ending RunEcho();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] testing_support::LoopbackInstance& instance() const { return instance_; }
  [[nodiscard]] testing_support::TcpProxy& line() { return line_; }
  [[nodiscard]] testing_support::McpClient& client() const { return *client_; }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] const std::filesystem::path& control() const { return control_; }

  /// What is wrong with the file that kInAWrite writes, which must be the old one or the whole new
  /// one; empty: nothing.
  [[nodiscard]] std::string WhatIsWrongWithTheFile() const;
  /// Puts the files of the state into the root, as they were.
  void MakeFiles() const;
  /// Hidden files of unfinished writes.
  [[nodiscard]] std::vector<std::filesystem::path> Leftovers() const;
  /// So that the next write in the directory removes them.
  void MakeLeftoversOld() const;
  /// Whether the command that was queued has run.
  [[nodiscard]] bool QueuedCommandRan() const;

 private:
  void WritePort(std::uint16_t port) const;
  std::int64_t Send(const std::string& tool, const nlohmann::json& arguments);
  std::int64_t SendCommand(const std::string& script);
  void EnterCommand();
  void EnterRead();
  void EnterWrite();
  void EnterQueue();
  void WaitForHeldLine();

  State state_;
  testing_support::LoopbackInstance& instance_;
  testing_support::TcpProxy line_;
  std::filesystem::path root_;
  std::filesystem::path control_;
  Calls calls_;
  testing_support::McpClient* client_ = nullptr;
  std::int64_t call_ = 0;
  std::chrono::steady_clock::time_point struck_;
};

}  // namespace integration
