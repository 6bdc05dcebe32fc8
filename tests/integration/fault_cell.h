#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "integration/fixture.h"
#include "testing/tcp_proxy.h"

namespace integration {

/// What a server does when a fault occurs.
enum class State { kIdle, kInACommand, kInARead, kInAWrite, kQueued };

inline constexpr std::array kStates = {State::kIdle, State::kInACommand, State::kInARead,
                                       State::kInAWrite, State::kQueued};

std::string_view Name(State state);

/// How a call ended.
struct Ending {
  bool well = false;  ///< the tool succeeded; a command exited with 0
  std::string text;   ///< of the error or the result
};

/// One server in one state, with an instance of its own behind a TcpProxy. One thread at a time.
class Cell {
 public:
  /// The rest of the command of kInACommand.
  static constexpr const char* kSleeps = "sleep 300 & sleep 300";
  /// … until Go() is called.
  static constexpr const char* kWaits = "while ! test -e \"$control/go\"; do sleep 0.05; done";

  /// `root` is the only mount of `instance`, `control` a directory outside it; both exist.
  Cell(State state, LoopbackInstance& instance, fs::path root, fs::path control);

  /// Later connections go to sshd, or through the proxy.
  void DialSshd() const { instance_.WritePort(instance_.port()); }
  void DialLine() const { instance_.WritePort(line_.port()); }

  struct Calls {
    std::string script = kSleeps;  ///< of the command of kInACommand
    /// kInAWrite: part of the content has been written.
    bool write_has_begun = true;
    /// The call of kIdle after the fault.
    std::string first_call = "read_file";
  };

  /// The server must outlive the cell.
  void Attach(McpClient& client) { client_ = &client; }

  /// Returns once the server is certainly in the state.
  void Enter(Calls calls);

  /// After the fault: releases the proxy, and makes the call of kIdle.
  void GoOn();

  void WaitUntilServerLeavesLine();

  /// Ends the command that waits for it.
  void Go() const;

  /// Waits for the call that was running.
  Ending End(std::chrono::milliseconds limit);

  /// One more call.
  Ending Call(const std::string& tool, const json& arguments,
              std::chrono::milliseconds limit = McpClient::kDefaultTimeout);
  Ending ReadSmallFile();
  Ending WriteSmallFile();
  Ending RunEcho();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] LoopbackInstance& instance() const { return instance_; }
  [[nodiscard]] testing_support::TcpProxy& line() { return line_; }
  [[nodiscard]] McpClient& client() const { return *client_; }
  [[nodiscard]] const fs::path& root() const { return root_; }
  [[nodiscard]] const fs::path& control() const { return control_; }

  /// What is wrong with kInAWrite's file, which must be the old one or the whole new one; empty if
  /// nothing.
  [[nodiscard]] std::string WhatIsWrongWithTheFile() const;
  /// Creates the files of the state in the root.
  void MakeFiles() const;
  /// Whether the command that was queued has run.
  [[nodiscard]] bool QueuedCommandRan() const;

 private:
  std::int64_t Send(const std::string& tool, const json& arguments);
  std::int64_t SendCommand(const std::string& script);
  void EnterCommand();
  void EnterRead();
  void EnterWrite();
  void EnterQueue();
  void WaitForHeldLine();

  State state_;
  LoopbackInstance& instance_;
  testing_support::TcpProxy line_;
  fs::path root_;
  fs::path control_;
  Calls calls_;
  McpClient* client_ = nullptr;
  std::int64_t call_ = 0;
};

}  // namespace integration
