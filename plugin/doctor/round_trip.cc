#include "doctor/round_trip.h"

#include <nlohmann/json.hpp>

#include "doctor/child.h"
#include "mcp/protocol.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/version.h"

namespace doctor {
namespace {

using nlohmann::json;

constexpr const char* kAdvice =
    "this is what your agent starts: run it yourself to see what it says on standard error";

/// A client of one server, one request at a time.
class Client {
 public:
  Client(const std::vector<std::string>& command, const support::Context& context)
      : child_(command), context_(context) {}

  json Request(const std::string& method, const json& params) {
    const int id = next_id_++;
    const bool sent =
        Send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    while (sent) {
      const std::optional<std::string> line = child_.ReadLine(context_);
      if (!line) break;
      const json message = json::parse(*line, nullptr, /*allow_exceptions=*/false);
      if (!message.is_object()) {
        throw support::CallError("it prints something that is no MCP message: " +
                                 line->substr(0, kShownText));
      }
      if (message.value("id", json()) != json(id)) continue;  // a notification
      if (message.contains("result")) return message["result"];
      throw support::CallError(
          method + " is answered with: " +
          message.value("error", json()).dump(-1, ' ', false, json::error_handler_t::replace));
    }
    const int exit_code = child_.Finish(context_);
    throw support::CallError("it ends with exit status " + std::to_string(exit_code) + " during " +
                             method + ": " + child_.LastWords());
  }

  /// Whether it has gone out shows with the next request.
  void Notify(const std::string& method) { (void)Send({{"jsonrpc", "2.0"}, {"method", method}}); }

  void CallTool(const std::string& name, const json& arguments) {
    const json result = Request("tools/call", {{"name", name}, {"arguments", arguments}});
    if (!result.value("isError", false)) return;
    std::string text;
    for (const json& block : result.value("content", json::array())) {
      text += block.value("text", std::string());
    }
    throw support::CallError(name + " fails: " + text);
  }

  void End() {
    const int exit_code = child_.Finish(context_);
    if (exit_code == 0) return;
    throw support::CallError("it ends with exit status " + std::to_string(exit_code) + ": " +
                             child_.LastWords());
  }

 private:
  static constexpr std::size_t kShownText = 200;

  [[nodiscard]] bool Send(const json& message) {
    return child_.Write(message.dump() + "\n", context_);
  }

  Child child_;
  const support::Context& context_;
  int next_id_ = 1;
};

Finding Talk(const std::vector<std::string>& command, const std::optional<std::string>& directory,
             const support::Context& context) {
  Client client(command, context);
  client.Request(
      "initialize",
      {{"protocolVersion", mcp::kNewestLegacyVersion},
       {"capabilities", json::object()},
       {"clientInfo", {{"name", "limactl-mcp-doctor"}, {"version", support::Version()}}}});
  client.Notify("notifications/initialized");
  const std::size_t tools =
      client.Request("tools/list", json::object()).value("tools", json::array()).size();
  std::string called = "initialize, " + std::to_string(tools) + " tools";
  if (directory) {
    client.CallTool("list_directory", {{"path", *directory}});
    client.CallTool("run_shell_command",
                    {{"command", json::array({"true"})}, {"directory", *directory}});
    called += ", list_directory, run_shell_command";
  }
  client.End();
  return Passed(called + " through `" + support::Join(command, " ") + "`");
}

}  // namespace

Finding CheckRoundTrip(const std::vector<std::string>& command,
                       const std::optional<std::string>& directory,
                       const support::Context& context) {
  try {
    return Talk(command, directory, context);
  } catch (const support::Stopped&) {
    throw;
  } catch (const std::exception& error) {  // also JSON of other types than MCP has there
    return Failed("`" + support::Join(command, " ") + "`: " + error.what(), kAdvice);
  }
}

}  // namespace doctor
