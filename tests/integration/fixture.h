// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/child_process.h"
#include "testing/eventually.h"
#include "testing/files.h"
#include "testing/guest_processes.h"
#include "testing/loopback_instance.h"
#include "testing/mcp_client.h"
#include "testing/temporary_directory.h"

/// The real binary against a real sshd. The "guest" is this machine behind a loopback sshd, so the
/// test sees the guest's files. A mapped mount has its guest directory elsewhere in the temporary
/// directory.
namespace integration {

// The vocabulary of these tests.
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using testing_support::ChildProcess;
using testing_support::EndsSoon;
using testing_support::Eventually;
using testing_support::GroupLives;
using testing_support::GuestProcesses;
using testing_support::LoopbackInstance;
using testing_support::McpClient;
using testing_support::ModeOf;
using testing_support::ProcessResult;
using testing_support::ReadFile;
using testing_support::RunProcess;
using testing_support::StatusOf;
using testing_support::TextOf;

using Command = std::vector<std::string>;

/// What needs no guest is answered within this.
inline constexpr std::chrono::seconds kPromptly{10};

std::vector<std::string> LinesOf(const std::string& text);

/// Prints the line that `./dev test` shows at its end, and returns the reason for GTEST_SKIP.
std::string Skipping(const std::string& reason);

/// Temporary files of unfinished writes, at any depth.
std::vector<fs::path> Leftovers(const fs::path& directory);
/// Makes them so old that the next write in their directory removes them.
void MakeOld(const std::vector<fs::path>& leftovers);

class IntegrationTest : public ::testing::Test {
 private:
  testing_support::TemporaryDirectory directory_;

 protected:
  struct ServeOptions {
    std::vector<std::string> arguments = {"default"};  ///< of `serve`
    std::string working_directory = {};                ///< empty: "/"
    bool initialize = true;
  };

  IntegrationTest() { MakeDirectory("root"); }

  /// `name` below this test's own directory.
  [[nodiscard]] fs::path Path(const std::string& name = "") const;
  fs::path MakeDirectory(const std::string& name);
  /// Makes parents too.
  fs::path MakeFile(const std::string& name, const std::string& text);
  /// A script for sh.
  fs::path MakeProgram(const std::string& name, const std::string& script = "");
  /// A symbolic link `name` that holds `target` as it is.
  fs::path MakeLink(const std::string& name, const fs::path& target);

  [[nodiscard]] fs::path LimaHome() const { return Path("lima"); }
  LoopbackInstance& StartInstance(LoopbackInstance::Options options);
  /// An instance with the writable mount `root`.
  LoopbackInstance& StartRoot(const std::vector<std::string>& sshd_options = {});

  /// How the server is started; for tests that start it themselves.
  [[nodiscard]] ChildProcess::Options ServerOptions(
      const std::vector<std::string>& arguments) const;

  /// Starts one more server; it becomes the one that `client` and the helpers below use.
  McpClient& Serve(const ServeOptions& options);
  McpClient& Serve() { return Serve(ServeOptions{}); }
  McpClient& ServeWith(const ChildProcess::Options& server);
  McpClient& client() { return *clients_.back(); }
  /// Kills the last server, if it still runs; the previous one becomes `client`.
  void ForgetServer() { clients_.pop_back(); }
  /// The instance that was started last.
  LoopbackInstance& Instance() { return *instances_.back(); }

  /// StartRoot and Serve.
  LoopbackInstance& StartGuest(const std::vector<std::string>& sshd_options = {},
                               const std::vector<std::string>& serve_options = {});

  /// Calls a tool that must succeed. `content[0]` must have the same result as text. Returns
  /// `structuredContent`.
  json Call(const std::string& tool, const json& arguments);

  /// Calls a tool that must fail with `isError`; returns its text.
  std::string Refusal(const std::string& tool, const json& arguments);

  std::string Read(const std::string& path);
  void Write(const std::string& path, const std::string& text);
  /// The names that list_directory shows.
  std::vector<std::string> List(const std::string& path);
  std::vector<std::string> Glob(const json& arguments);
  /// The lines that search_file_content finds.
  std::string Search(const json& arguments);

  /// Arguments of run_shell_command and start_process, in the root.
  [[nodiscard]] json Arguments(const Command& command) const;
  json Run(const Command& command) { return Call("run_shell_command", Arguments(command)); }
  json Shell(const std::string& script) { return Run({"sh", "-c", script}); }

  /// Sends the call without waiting for its response. "" for no progress token.
  std::int64_t Begin(const Command& command, const std::string& progress = "") {
    return client().BeginCall("run_shell_command", Arguments(command), progress);
  }
  std::int64_t BeginShell(const std::string& script, const std::string& progress = "") {
    return Begin({"sh", "-c", script}, progress);
  }
  /// BeginShell in a process group of its own, with the number $$. The command waits for it.
  std::int64_t BeginGroup(const std::string& script, const std::string& progress = "") {
    return Begin({"bash", "-c", "set -m; sh -c \"$0\" & wait", script}, progress);
  }
  /// The structured result.
  json End(std::int64_t id) { return client().EndCall(id, 60s).at("structuredContent"); }

  /// The text of the next progress notification with this token.
  std::string NextProgress(const std::string& token);

  /// Waits until the file `name` in the root exists and is not empty; returns its content.
  std::string Await(const std::string& name) const;

  const std::string root = Path("root").string();

 private:
  std::vector<std::unique_ptr<LoopbackInstance>> instances_;
  std::vector<std::unique_ptr<McpClient>> clients_;
};

}  // namespace integration
