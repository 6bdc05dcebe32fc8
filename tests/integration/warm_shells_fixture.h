#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "integration/loopback_guest.h"
#include "testing/guest_processes.h"
#include "testing/recorded_progress.h"
#include "testing/stubborn_command.h"
#include "tools/command_runner.h"

/// Commands in login shells that were started ahead of them, against a real sshd.
namespace warm_shells {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

/// Commands only; counts how they were started.
class CountingGuest : public guest::Guest {
 public:
  explicit CountingGuest(std::shared_ptr<guest::Guest> guest) : guest_(std::move(guest)) {}

  guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                           const support::Context& context) override {
    ++cold;
    return guest_->Run(command, sink, context);
  }
  std::unique_ptr<guest::WaitingCommand> StartWaiting(
      guest::Command command, std::shared_ptr<guest::OutputSink> sink) override {
    ++started;
    return guest_->StartWaiting(std::move(command), std::move(sink));
  }

  guest::FileAttributes Stat(const std::string& path, const support::Context& c) override {
    return guest_->Stat(path, c);
  }
  guest::FileAttributes LStat(const std::string& path, const support::Context& c) override {
    return guest_->LStat(path, c);
  }
  std::string ReadLink(const std::string& path, const support::Context& c) override {
    return guest_->ReadLink(path, c);
  }
  std::string RealPath(const std::string& path, const support::Context& c) override {
    return guest_->RealPath(path, c);
  }
  std::unique_ptr<guest::OpenFile> Open(const std::string& path, guest::OpenMode mode,
                                        std::uint32_t permissions,
                                        const support::Context& c) override {
    return guest_->Open(path, mode, permissions, c);
  }
  std::vector<guest::DirectoryEntry> List(const std::string& path,
                                          const support::Context& c) override {
    return guest_->List(path, c);
  }
  void MakeDirectory(const std::string& path, std::uint32_t permissions,
                     const support::Context& c) override {
    guest_->MakeDirectory(path, permissions, c);
  }
  void Rename(const std::string& from, const std::string& to, const support::Context& c) override {
    guest_->Rename(from, to, c);
  }
  void Unlink(const std::string& path, const support::Context& c) override {
    guest_->Unlink(path, c);
  }
  guest::FileSystemStatus StatFileSystem(const std::string& path,
                                         const support::Context& c) override {
    return guest_->StatFileSystem(path, c);
  }

  std::atomic<int> cold = 0;
  std::atomic<int> started = 0;

 private:
  std::shared_ptr<guest::Guest> guest_;
};

class WarmShells : public integration::LoopbackGuest {
 protected:
  void SetUp() override {
    // Without /proc the program starts every command the cold way.
    if (!std::filesystem::exists("/proc/self/fd")) {
      GTEST_SKIP() << "this machine has no /proc, which shells that wait need";
    }
    Start({});
  }

  void Start(std::vector<std::string> sshd_options) {
    warm_.reset();
    cold_.reset();
    guest_.reset();
    StartInstance(std::move(sshd_options));
    std::filesystem::create_directories(work_);
    guest_ = std::make_unique<CountingGuest>(Connect());
    Restart();
  }

  void Restart() {
    options_.warm_shells = false;
    cold_ = std::make_unique<tools::CommandRunner>(options_);
    options_.warm_shells = true;
    warm_ = std::make_unique<tools::CommandRunner>(options_);
  }

  void Write(const std::filesystem::path& path, const std::string& text, bool executable = false) {
    std::ofstream(path, std::ios::trunc) << text;
    if (executable) std::filesystem::permissions(path, std::filesystem::perms(0755));
  }
  [[nodiscard]] std::filesystem::path Home() const { return instance_->directory() / "guest-home"; }
  void WriteProfile(const std::string& text) { Write(Home() / ".bash_profile", text); }

  nlohmann::json Cold(const Words& words) { return RunBy(*cold_, words); }
  /// Takes the shell that the command before has left.
  nlohmann::json Warm(const Words& words, const support::Context& context = {}) {
    return RunBy(*warm_, words, context);
  }
  nlohmann::json RunBy(tools::CommandRunner& runner, const Words& words,
                       const support::Context& context = {}) {
    return runner.Run(*guest_, {words, work_, shell_}, context, progress_).structured;
  }
  static Words Eval(const std::string& script) { return {"eval", script}; }
  static Words Bash(const std::string& script) { return {"bash", "-c", script}; }

  /// How many commands `work` has started the cold way.
  template <typename Work>
  int ColdStarts(const Work& work) {
    const int before = guest_->cold;
    work();
    return guest_->cold - before;
  }

  void Compare(const Words& words) {
    const nlohmann::json cold = WithoutProcessIds(Cold(words));
    const nlohmann::json warm = WithoutProcessIds(Warm(words));
    EXPECT_EQ(warm, cold) << nlohmann::json(words).dump(-1, ' ', false,
                                                        nlohmann::json::error_handler_t::replace);
  }

  /// In "line 1: 1234 Killed …" of bash.
  static nlohmann::json WithoutProcessIds(nlohmann::json result) {
    result["stderr"] = std::regex_replace(result["stderr"].get<std::string>(),
                                          std::regex("(line [0-9]+: *)[0-9]+ "), "$1PID ");
    return result;
  }

  static std::uintmax_t FileSize(const std::filesystem::path& path) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(path, missing);
    return missing ? 0 : size;
  }

  /// `file` in the working directory.
  [[nodiscard]] bool EndsSoon(const std::string& file) const {
    return testing_support::EndsSoon(work_ + "/" + file);
  }

  /// How often the guest's processes have run so far, sshd's own included.
  [[nodiscard]] long ContextSwitchesInGuest() const {
    long all = 0;
    for (const auto& process : testing_support::GuestProcesses(*instance_)) {
      std::ifstream status("/proc/" + std::to_string(process.pid) + "/status");
      for (std::string word; status >> word;) {
        long times = 0;
        if (word.find("voluntary_ctxt_switches:") != std::string::npos && status >> times) {
          all += times;
        }
      }
    }
    return all;
  }

  std::string work_ = directory_.path() / "work";
  std::string shell_ = "/bin/bash";
  std::unique_ptr<CountingGuest> guest_;
  tools::CommandRunner::Options options_;
  std::unique_ptr<tools::CommandRunner> cold_;
  std::unique_ptr<tools::CommandRunner> warm_;
  testing_support::RecordedProgress progress_;
};

}  // namespace warm_shells
