// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "shell/shell_quote.h"
#include "shell/shells.h"
#include "testing/eventually.h"
#include "testing/local_launcher.h"
#include "testing/recorded_process.h"
#include "testing/temporary_directory.h"

namespace shell {

using namespace std::chrono_literals;
using testing_support::Eventually;
using Words = std::vector<std::string>;

struct Result {
  std::optional<int> status;  ///< 128+N for a signal
  std::string output;
  std::string error;
  bool shell_missing = false;

  friend bool operator==(const Result&, const Result&) = default;
};

inline void PrintTo(const Result& result, std::ostream* out) {
  *out << "status " << result.status.value_or(-1) << "\n"
       << result.output << "---\n"
       << result.error;
}

struct TextSink final : OutputSink {
  bool OnOutput(Stream stream, std::string_view bytes) override {
    (stream == Stream::kOutput ? output : error) += bytes;
    return output.size() < limit;
  }
  void OnQueued(const std::string&) override { queued = true; }

  std::string output;
  std::string error;
  std::size_t limit = std::size_t{1} << 30;
  std::atomic<bool> queued = false;
};

/// Resident shells as child processes, with their own home and directory.
class ShellsTest : public ::testing::Test {
 protected:
  ShellsTest() {
    options_.environment = {"HOME=" + home_.path().string(),
                            "SHELL=/bin/bash",
                            "SSH_CONNECTION=" + home_.path().string() + " 1 127.0.0.1 22",
                            "USER=tester",
                            "LOGNAME=tester",
                            "LANG=C.UTF-8",
                            "GIT_EDITOR=true",  // as it is by default
                            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
    Restart();
  }

  void Restart() {
    shells_.reset();
    launcher_ = std::make_unique<testing_support::LocalLauncher>(options_);
    shells_ = std::make_unique<Shells>(*launcher_);
  }

  Result RunCommand(const LoginCommand& command, const support::Context& context = {}) {
    TextSink sink;
    const RunEnd end = shells_->RunCommand(command, sink, context);
    return {Status(end.exit_status, end.exit_signal), sink.output, sink.error, end.shell_missing};
  }
  Result RunIn(const std::string& shell, const Words& words, const support::Context& context = {}) {
    return RunCommand({ShellCommand(words), words.front(), work_, shell}, context);
  }
  Result Run(const Words& words, const support::Context& context = {}) {
    return RunIn("/bin/bash", words, context);
  }
  Result Bash(const std::string& script, const support::Context& context = {}) {
    return Run({"bash", "-c", script}, context);
  }
  Result Script(const std::string& script, const support::Context& context = {}) {
    TextSink sink;
    const RunEnd end = shells_->RunScript({script}, sink, context);
    return {Status(end.exit_status, end.exit_signal), sink.output, sink.error};
  }

  /// Runs it as `limactl shell` does.
  Result Plainly(const std::string& shell, const std::string& command) {
    const auto recorded = std::make_shared<testing_support::RecordedProcess>();
    const auto process = launcher_->Start("cd " + ShellQuote(work_) + " || exit 1 ; exec " + shell +
                                              " -l -c " + ShellQuote(command) + " </dev/null",
                                          recorded);
    const ProcessEnd end = recorded->End();
    return {Status(end.exit_status, end.exit_signal), recorded->output(),
            recorded->collected().error};
  }

  static std::optional<int> Status(std::optional<int> status,
                                   const std::optional<std::string>& signal) {
    if (!signal) return status;
    return 128 + (*signal == "KILL" ? SIGKILL : *signal == "TERM" ? SIGTERM : std::stoi(*signal));
  }

  static void Write(const std::filesystem::path& path, const std::string& text,
                    bool executable = false) {
    std::ofstream(path, std::ios::trunc) << text;
    if (executable) std::filesystem::permissions(path, std::filesystem::perms(0755));
  }
  void WriteProfile(const std::string& text) { Write(home_.path() / ".bash_profile", text); }

  [[nodiscard]] bool Exists(const std::string& name) const {
    return std::filesystem::exists(work_ + "/" + name);
  }
  bool Comes(const std::string& name) const {
    return Eventually([&] { return Exists(name); });
  }

  /// The process whose id is in the file exits soon.
  [[nodiscard]] bool Ends(const std::string& name) const {
    return Eventually([&] {
      pid_t process = 0;
      std::ifstream(work_ + "/" + name) >> process;
      return process > 0 && IsGone(process);
    });
  }
  [[nodiscard]] static bool IsGone(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string stat;
    std::getline(file, stat);  // an iterator would throw if the process ended meanwhile
    return stat.empty() || stat.find(") Z ") != std::string::npos;
  }

  testing_support::TemporaryDirectory home_;
  testing_support::TemporaryDirectory directory_;
  std::string work_ = directory_.path();
  testing_support::LocalLauncher::Options options_;
  std::unique_ptr<testing_support::LocalLauncher> launcher_;
  std::unique_ptr<Shells> shells_;
};

/// For each /bin/sh that a guest may have.
class EachShellTest : public ShellsTest, public ::testing::WithParamInterface<const char*> {
 public:
  static std::string NameOf(const ::testing::TestParamInfo<const char*>& shell) {
    const std::string name = std::string(shell.param).substr(5);
    return name.substr(0, name.find(' '));
  }

 protected:
  void SetUp() override {
    const std::string shell = GetParam();
    if (!std::filesystem::exists(shell.substr(0, shell.find(' ')))) GTEST_SKIP() << "no " << shell;
    options_.posix_shell = shell;
    Restart();
  }
};
inline const auto kShells = ::testing::Values("/bin/dash", "/bin/bash", "/bin/busybox sh");

}  // namespace shell
