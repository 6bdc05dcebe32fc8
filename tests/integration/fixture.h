#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/child_process.h"
#include "testing/files.h"
#include "testing/loopback_instance.h"
#include "testing/mcp_client.h"
#include "testing/temporary_directory.h"

/// The real binary against a real sshd. The "guest" is this machine behind a loopback sshd, so the
/// test sees the guest's files. A mapped mount has its guest directory elsewhere in the temporary
/// directory.
namespace integration {

using testing_support::ModeOf;
using testing_support::ReadFile;

using Mounts = std::vector<testing_support::LoopbackInstance::Mount>;

/// The built limactl-mcp.
std::string ServerProgram();

/// The contract of Lima's six tools: name -> {"inputSchema", "outputSchema"}.
nlohmann::json Contract();

std::vector<std::string> LinesOf(const std::string& text);

/// Whether this machine has the program, on PATH.
bool Installed(const std::string& program);

/// Prints the line that `./dev test` shows at its end, and returns the reason for GTEST_SKIP.
std::string Skipping(const std::string& reason);

class IntegrationTest : public ::testing::Test {
 protected:
  struct ServeOptions {
    std::vector<std::string> arguments = {"default"};  ///< of `serve`
    std::string working_directory = {};                ///< empty: "/"
    bool initialize = true;
  };

  /// `name` below this test's own directory.
  [[nodiscard]] std::filesystem::path Path(const std::string& name = "") const;
  std::filesystem::path MakeDirectory(const std::string& name);
  /// Makes parents too.
  std::filesystem::path MakeFile(const std::string& name, const std::string& text);
  /// A script for sh.
  std::filesystem::path MakeProgram(const std::string& name, const std::string& script = "");
  /// A symbolic link `name` that holds `target` as it is.
  std::filesystem::path MakeLink(const std::string& name, const std::filesystem::path& target);

  /// A directory of links to this machine's programs, all but `missing`.
  std::filesystem::path ProgramsWithout(const std::vector<std::string>& missing);
  /// Files in the home directory of the guest's user of the instance "default", such as .profile.
  void WriteProfiles(const std::vector<std::string>& names, const std::string& text);

  [[nodiscard]] std::filesystem::path LimaHome() const { return Path("lima"); }
  testing_support::LoopbackInstance& StartInstance(testing_support::LoopbackInstance::Options o);
  testing_support::LoopbackInstance& StartInstance(const Mounts& mounts);

  /// How the server is started; for tests that start it themselves.
  [[nodiscard]] testing_support::ChildProcess::Options ServerOptions(
      const std::vector<std::string>& arguments) const;
  testing_support::ProcessResult RunServer(const std::vector<std::string>& arguments,
                                           const std::string& input = "") const;

  /// Starts one more server; it becomes the one that `client` and the helpers below use.
  testing_support::McpClient& Serve(const ServeOptions& options);
  testing_support::McpClient& Serve() { return Serve(ServeOptions{}); }
  testing_support::McpClient& client() { return *clients_.back(); }
  /// Kills the last server, if it still runs; the previous one becomes `client`.
  void ForgetServer() { clients_.pop_back(); }
  /// The instance that was started last.
  testing_support::LoopbackInstance& Instance() { return *instances_.back(); }

  /// StartInstance and Serve.
  void Mount(const Mounts& mounts, const std::vector<std::string>& serve_options = {});

  /// Calls a tool that must succeed. Its result must match the contract's output schema, and
  /// `content[0]` must have the same result as text. Returns `structuredContent`.
  nlohmann::json Call(const std::string& tool, const nlohmann::json& arguments);

  /// Calls a tool that must fail with `isError`; returns its text.
  std::string Refusal(const std::string& tool, const nlohmann::json& arguments);

  std::string Read(const std::string& path);
  void Write(const std::string& path, const std::string& text);
  std::string ReadRefusal(const std::string& path);
  std::string WriteRefusal(const std::string& path);
  /// The names that list_directory shows.
  std::vector<std::string> List(const std::string& path);
  std::vector<std::string> Glob(const nlohmann::json& arguments);

 private:
  testing_support::TemporaryDirectory directory_;
  std::vector<std::unique_ptr<testing_support::LoopbackInstance>> instances_;
  std::vector<std::unique_ptr<testing_support::McpClient>> clients_;
};

}  // namespace integration
