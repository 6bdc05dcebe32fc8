#include "doctor/server_checks.h"

#include <filesystem>
#include <optional>

#include "mcp/protocol.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/utf8.h"
#include "support/version.h"

namespace doctor {
namespace {

using nlohmann::json;

constexpr std::size_t kShownBytes = 200;  // of other programs' output

std::string Shorten(const std::string& text) {
  if (text.size() <= kShownBytes) return text;
  return std::string(support::CutText(text, kShownBytes)) + "...";
}

json RunCommand(ServerUnderTest& server, const json& words, const Mounts& mounts,
                const support::Context& context) {
  return server.CallTool("run_shell_command",
                         {{"command", words}, {"directory", mounts.front().location}}, context);
}

}  // namespace

json ServerUnderTest::Request(const std::string& method, const json& params,
                              const support::Context& context) {
  const int id = next_id_++;
  const json request = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  child_.Write(request.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
  while (const std::optional<std::string> line = child_.ReadLine(context)) {
    const json message = json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (!message.is_object()) {
      throw support::CallError("it prints something that is not an MCP message: " + Shorten(*line));
    }
    if (message.value("id", json()) != json(id)) continue;  // a notification
    if (message.contains("result") && message["result"].is_object()) return message["result"];
    throw support::CallError(method + " returns: " + Shorten(support::ToUtf8(*line)));
  }
  constexpr std::size_t kShown = 2048;
  const int exit_code = child_.Finish(context);
  const std::string& error = child_.error();
  throw support::CallError("it exits with status " + std::to_string(exit_code) + " during " +
                           method + ": " +
                           error.substr(error.size() - std::min(error.size(), kShown)));
}

json ServerUnderTest::CallTool(const std::string& name, const json& arguments,
                               const support::Context& context) {
  const json result = Request("tools/call", {{"name", name}, {"arguments", arguments}}, context);
  if (!result.value("isError", false)) return result.value("structuredContent", json::object());
  std::string text;
  for (const json& block : result.value("content", json::array())) text += block.value("text", "");
  throw support::CallError(arguments.value("path", name) + ": " + text);
}

Finding CheckServer(ServerUnderTest& server, const support::Context& context) {
  server.Request(
      "initialize",
      {{"protocolVersion", mcp::kNewestLegacyVersion},
       {"capabilities", json::object()},
       {"clientInfo", {{"name", "limactl-mcp-doctor"}, {"version", support::Version()}}}},
      context);
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

Finding CheckShell(ServerUnderTest& server, const Mounts& mounts, const support::Context& context) {
  const std::string advice =
      "check the start-up files of the guest's user (~/.profile, ~/.bash_profile, ~/.bashrc)";
  const json result = RunCommand(server, {"true"}, mounts, context);
  const std::string printed = Shorten(result.value("stdout", "") + result.value("stderr", ""));
  const std::string error = result.value("error", "");
  if (!error.empty()) return Failed("`true` fails: " + error + "; it prints: " + printed, advice);
  if (printed.empty()) return Passed("runs commands");
  return Warning("every command's output begins with text from startup files: " + printed, advice);
}

Finding CheckWrite(ServerUnderTest& server, const Mounts& mounts, const support::Context& context) {
  std::vector<std::string> written;
  for (const lima::Mount& mount : mounts) {
    if (!mount.writable) continue;
    const std::string file = mount.location + "/.limactl-mcp-doctor";
    server.CallTool("write_file", {{"path", file}, {"content", "limactl mcp doctor\n"}}, context);
    if (!std::filesystem::remove(file)) {
      throw support::CallError("a file that the guest writes, " + file +
                               ", does not appear on the host");
    }
    written.push_back(mount.location);
  }
  if (!written.empty()) return Passed(support::Join(written));
  return Warning("no mount is writable: the agent can only read",
                 "mount the project with `writable: true`");
}

Finding CheckFind(ServerUnderTest& server, const Mounts& mounts, const support::Context& context) {
  const json result = RunCommand(server, {"find", ".", "-maxdepth", "0"}, mounts, context);
  if (result.value("exit_code", 1) == 0) return Passed("finds files");
  return Failed("find fails: " + Shorten(result.value("stderr", "")),
                "install findutils in the guest");
}

Finding CheckGit(ServerUnderTest& server, const Mounts& mounts, const support::Context& context) {
  const json result = RunCommand(server, {"git", "--version"}, mounts, context);
  if (result.value("exit_code", 1) != 0) {
    return Warning("no git: search_file_content searches ignored files too",
                   "install git in the guest");
  }
  const std::string version = result.value("stdout", "");
  return Passed(version.substr(0, version.find('\n')));
}

}  // namespace doctor
