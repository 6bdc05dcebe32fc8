// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "shell/shells.h"
#include "testing/local_files.h"
#include "testing/local_launcher.h"

namespace testing_support {

/// "LStat", "Read", … for messages of tests.
std::string Name(guest::Operation operation);

/// The fake guest: this machine's files and programs, unless a test sets functions that reply in
/// their place. Thread-safe; the functions run without a lock. Set them before other threads use
/// the guest.
class LocalGuest : public guest::Guest {
 public:
  /// Called before each operation but kReadDirectory with its path. It may throw in place of the
  /// operation, or change files.
  using Hook = std::function<void(guest::Operation operation, const std::string& path)>;
  void set_hook(Hook hook) { hook_ = std::move(hook); }

  /// Replies to a request in place of this machine, or not. A reply without a value opens a file or
  /// directory that no other request than Close can use. guest::FileError is a reply; another
  /// exception ends the round trip.
  using FakeReply = std::function<std::optional<guest::Reply>(const guest::Request& request,
                                                              const support::Context& context)>;
  void set_reply(FakeReply reply) { reply_ = std::move(reply); }

  /// Runs a script or command in place of this machine, perhaps with RunHere.
  using FakeRun = std::function<shell::RunEnd(const shell::Script& script, shell::OutputSink& sink,
                                              const support::Context& context)>;
  void set_run(FakeRun run) { run_ = std::move(run); }

  /// Precedes each command line.
  std::string setup;
  /// Makes `directory` the PATH of all commands, with links to these programs: name, and path.
  void OfferOnly(const std::filesystem::path& directory,
                 const std::vector<std::pair<std::string, std::string>>& programs);

  /// Whether OpenFile::Sync is offered; true by default.
  void set_offers_sync(bool offers_sync) { offers_sync_ = offers_sync; }

  void set_alive(bool alive) { alive_ = alive; }

  /// How often an operation but kReadDirectory was requested, failures included.
  [[nodiscard]] int count(guest::Operation operation) const;
  /// How many scripts and commands were run.
  [[nodiscard]] int runs() const { return runs_; }
  /// How many operations, scripts and commands were run.
  [[nodiscard]] int total() const;
  /// "LStat 1, RealPath 1, Run 1", in the order of guest::Operation: for comparing and for
  /// messages.
  [[nodiscard]] std::string counts() const;
  /// Bursts and commands.
  [[nodiscard]] int round_trips() const;
  /// READ requests as OpenSSH's server counts them: 261,120 bytes in one (limits@openssh.com).
  [[nodiscard]] std::size_t server_reads() const;
  void ResetCounts();

  /// Files and directories that are not closed, and how many handles were closed.
  [[nodiscard]] std::size_t open_handles() const;
  [[nodiscard]] int closed_handles() const { return closed_handles_; }

  std::vector<guest::Reply> RoundTrip(const std::vector<guest::Request>& requests,
                                      const support::Context& context) override;
  [[nodiscard]] bool alive() const override { return alive_; }
  void CloseLater(const guest::Handle& handle) noexcept override;

  void Forward(support::FileDescriptor, int,
               std::function<void(guest::ForwardEnd)> on_end) override {
    on_end(guest::ForwardEnd::kNothingListens);
  }
  shell::Shells& shells() override { return shells_; }
  std::unique_ptr<shell::Process> Start(std::string command_line,
                                        std::shared_ptr<shell::ProcessEvents> events) override;

  /// Runs a script in a new shell of this machine. Not counted.
  shell::RunEnd RunHere(const shell::Script& script, shell::OutputSink& sink,
                        const support::Context& context);

 private:
  /// Starts new shells for each script and command, unless set_run replaces them.
  class Shells final : public shell::Shells {
   public:
    explicit Shells(LocalGuest& guest) : shell::Shells(guest), guest_(guest) {}
    shell::RunEnd RunScript(const shell::Script& script, shell::OutputSink& sink,
                            const support::Context& context) override;
    shell::RunEnd RunCommand(const shell::LoginCommand& command, shell::OutputSink& sink,
                             const support::Context& context) override;

   private:
    LocalGuest& guest_;
  };

  void Begin(guest::Operation operation, const std::string& path, const support::Context& context);
  void BeginRun(const std::string& text, const support::Context& context);
  guest::Reply ReplyTo(const guest::Request& request, const support::Context& context);
  guest::Handle Keep(const std::string& path, LocalFile file);
  std::shared_ptr<LocalFile> Find(const guest::Handle& handle) const;

  Shells shells_{*this};
  Hook hook_;
  FakeReply reply_;
  FakeRun run_;
  bool offers_sync_ = true;
  std::atomic<bool> alive_ = true;
  std::atomic<int> closed_handles_ = 0;
  std::atomic<int> runs_ = 0;

  mutable std::mutex mutex_;  // of what follows
  std::map<guest::Operation, int> counts_;
  int round_trips_ = 0;
  std::size_t server_reads_ = 0;
  std::map<std::string, std::shared_ptr<LocalFile>> opened_;
  std::uint64_t next_handle_ = 1;
  /// Each with the environment of its time.
  std::vector<std::unique_ptr<LocalLauncher>> launchers_;
};

/// Prints `output`; for LocalGuest::set_run.
shell::RunEnd Print(shell::OutputSink& sink, std::string_view output,
                    std::optional<int> exit_status = 0);

}  // namespace testing_support
