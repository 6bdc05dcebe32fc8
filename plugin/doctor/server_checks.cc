#include "doctor/server_checks.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "mcp/protocol.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/units.h"
#include "support/utf8.h"
#include "support/version.h"

namespace doctor {
namespace {

using nlohmann::json;

constexpr std::size_t kShownBytes = 200;  // of what others print

/// From here on a login shell counts as slow.
constexpr std::chrono::milliseconds kSlowShell{3000};

std::string Shorten(const std::string& text) {
  if (text.size() <= kShownBytes) return text;
  const std::string head = text.substr(0, kShownBytes);
  return head.substr(0, support::ValidUtf8Prefix(head)) + "...";
}

json RunCommand(ServerUnderTest& server, const json& words, const std::string& directory,
                const support::Context& context) {
  return server.CallTool("run_shell_command", {{"command", words}, {"directory", directory}},
                         context);
}

/// Returns what is wrong; empty when it worked.
std::string TryToWrite(ServerUnderTest& server, const std::string& directory,
                       const support::Context& context) {
  const std::string file = directory + "/.limactl-mcp-doctor";
  try {
    server.CallTool("write_file", {{"path", file}, {"content", "limactl mcp doctor\n"}}, context);
  } catch (const support::Stopped&) {
    throw;
  } catch (const support::CallError& error) {
    return error.what();
  }
  std::error_code error;
  if (std::filesystem::remove(file, error)) return "";
  return error ? "cannot remove " + file + ": " + error.message()
               : "what the guest writes does not appear on the host";
}

}  // namespace

ServerUnderTest::~ServerUnderTest() {
  try {
    child_.Finish(support::Context().WithTimeout(std::chrono::seconds(1)));
  } catch (const support::CallError&) {
    // ~Child kills it.
  }
}

json ServerUnderTest::Request(const std::string& method, const json& params,
                              const support::Context& context) {
  const int id = next_id_++;
  const json request = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  child_.Write(request.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
  while (const std::optional<std::string> line = child_.ReadLine(context)) {
    const json message = json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (!message.is_object()) {
      throw support::CallError("it prints something that is no MCP message: " + Shorten(*line));
    }
    if (message.value("id", json()) != json(id)) continue;  // a notification
    if (message.contains("result") && message["result"].is_object()) return message["result"];
    throw support::CallError(method + " returns: " + Shorten(support::ToUtf8(*line)));
  }
  const int exit_code = child_.Finish(context);
  throw support::CallError("it exits with status " + std::to_string(exit_code) + " during " +
                           method + ": " + child_.LastWords());
}

void ServerUnderTest::Notify(const std::string& method) {
  child_.Write(json{{"jsonrpc", "2.0"}, {"method", method}}.dump() + "\n");
}

json ServerUnderTest::CallTool(const std::string& name, const json& arguments,
                               const support::Context& context) {
  const json result = Request("tools/call", {{"name", name}, {"arguments", arguments}}, context);
  if (!result.value("isError", false)) return result.value("structuredContent", json::object());
  std::string text;
  for (const json& block : result.value("content", json::array())) text += block.value("text", "");
  throw support::CallError(text);
}

Finding CheckServer(ServerUnderTest& server, const support::Context& context) {
  server.Request(
      "initialize",
      {{"protocolVersion", mcp::kNewestLegacyVersion},
       {"capabilities", json::object()},
       {"clientInfo", {{"name", "limactl-mcp-doctor"}, {"version", support::Version()}}}},
      context);
  server.Notify("notifications/initialized");
  const json tools = server.Request("tools/list", json::object(), context).value("tools", json());
  return Passed(std::to_string(tools.size()) + " tools");
}

Finding CheckMounted(ServerUnderTest& server, const Mounts& mounts,
                     const support::Context& context) {
  if (mounts.empty()) return Skipped("there are no mounts");
  for (const lima::Mount& mount : mounts) {
    server.CallTool("list_directory", {{"path", mount.location}}, context);
  }
  return Passed("all " + std::to_string(mounts.size()) + " of them");
}

Finding CheckShell(ServerUnderTest& server, const std::string& directory,
                   const support::Context& context) {
  constexpr const char* kStartUpFiles = " (~/.profile, ~/.bash_profile, ~/.bashrc and the like)";
  const auto start = support::Clock::now();
  const json result = RunCommand(server, {"true"}, directory, context);
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(support::Clock::now() - start);
  const std::string printed = result.value("stdout", "") + result.value("stderr", "");
  const std::string error = result.value("error", "");
  if (!error.empty()) {
    return Failed(
        "`true` fails: " + error + (printed.empty() ? "" : "; it prints: " + Shorten(printed)),
        std::string("check the start-up files of the guest's user") + kStartUpFiles +
            " with limactl shell");
  }
  if (!printed.empty()) {
    return Warning(
        "start-up files print: " + Shorten(printed),
        std::string("silence them") + kStartUpFiles + ": every command's output begins with this");
  }
  if (took >= kSlowShell) {
    return Warning("the login shell takes " + support::FormatDuration(took) + " to start",
                   std::string("make the start-up files faster") + kStartUpFiles);
  }
  return Passed("runs commands");
}

Finding CheckWrite(ServerUnderTest& server, const Mounts& mounts, const support::Context& context) {
  std::vector<std::string> written;
  std::vector<std::string> problems;
  for (const lima::Mount& mount : mounts) {
    if (!mount.writable) continue;
    const std::string problem = TryToWrite(server, mount.location, context);
    if (problem.empty()) {
      written.push_back(mount.location);
    } else {
      problems.push_back(mount.location + ": " + problem);
    }
  }
  if (!problems.empty()) {
    return Failed(support::Join(problems, "; "),
                  "let the guest's user write there (owner, mode and disk space on the host), or "
                  "mount it read-only");
  }
  if (written.empty()) {
    return Warning("no mount is writable: the agent can only read",
                   "mount the project with `writable: true`");
  }
  return Passed(support::Join(written));
}

Finding CheckFind(ServerUnderTest& server, const std::string& directory,
                  const support::Context& context) {
  server.CallTool("glob", {{"pattern", ".limactl-mcp-*"}, {"path", directory}}, context);
  return Passed("finds files");
}

Finding CheckGit(ServerUnderTest& server, const std::string& directory,
                 const support::Context& context) {
  const json result = RunCommand(server, {"git", "--version"}, directory, context);
  if (result.value("exit_code", 1) != 0) {
    return Warning("no git: search_file_content searches ignored files too",
                   "install git in the guest");
  }
  const std::string version = result.value("stdout", "");
  return Passed(version.substr(0, version.find('\n')));
}

}  // namespace doctor
