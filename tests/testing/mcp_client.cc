// SPDX-License-Identifier: Apache-2.0
#include "testing/mcp_client.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace testing_support {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

McpClient::McpClient(const ChildProcess::Options& server) : process_(server) {
  // A dead server must not kill the test program.
  ::signal(SIGPIPE, SIG_IGN);
}

json McpClient::Initialize(const std::string& version, const std::string& name) {
  const json response = Request("initialize", {{"protocolVersion", version},
                                               {"capabilities", json::object()},
                                               {"clientInfo", {{"name", name}, {"version", "1"}}}});
  SendNotification("notifications/initialized", json::object());
  return response.at("result");
}

void McpClient::SpeakModern(const std::string& name) {
  meta_ = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
           {"io.modelcontextprotocol/clientCapabilities", json::object()},
           {"io.modelcontextprotocol/clientInfo", {{"name", name}, {"version", "1"}}}};
}

json McpClient::Request(const std::string& method, const json& params,
                        std::chrono::milliseconds timeout) {
  return WaitForResponse(SendRequest(method, params), timeout);
}

json McpClient::CallTool(const std::string& name, const json& arguments,
                         std::chrono::milliseconds timeout) {
  return EndCall(BeginCall(name, arguments), timeout);
}

std::int64_t McpClient::BeginCall(const std::string& tool, const json& arguments,
                                  const std::string& progress) {
  json params = {{"name", tool}, {"arguments", arguments}};
  if (!progress.empty()) params["_meta"] = {{"progressToken", progress}};
  return SendRequest("tools/call", params);
}

void McpClient::Cancel(std::int64_t id) {
  SendNotification("notifications/cancelled", {{"requestId", id}});
}

json McpClient::EndCall(std::int64_t id, std::chrono::milliseconds timeout) {
  json response = WaitForResponse(id, timeout);
  if (!response.contains("result")) throw std::runtime_error("protocol error: " + response.dump());
  return response["result"];
}

std::int64_t McpClient::SendRequest(const std::string& method, const json& params) {
  const std::int64_t id = next_id_++;
  json request = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  if (!meta_.is_null() && method != "ping") request["params"]["_meta"].update(meta_);
  SendLine(request.dump());
  return id;
}

void McpClient::SendNotification(const std::string& method, const json& params) {
  SendLine(json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
}

void McpClient::SendLine(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = ::write(process_.standard_input().get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::runtime_error("the server does not read any more: " + log_);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

json McpClient::WaitForResponse(std::int64_t id, std::chrono::milliseconds timeout) {
  const auto matches = [id](const json& message) {
    return message.is_object() && message.contains("id") && message["id"] == id &&
           !message.contains("method");
  };
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    if (!matches(*kept)) continue;
    json found = std::move(*kept);
    kept_.erase(kept);
    return found;
  }
  const auto deadline = Clock::now() + timeout;
  while (true) {
    json message = json::parse(ReadLine(deadline));
    if (matches(message)) return message;
    kept_.push_back(std::move(message));
  }
}

json McpClient::NextMessage(std::chrono::milliseconds timeout) {
  if (kept_.empty()) return json::parse(NextLine(timeout));
  json message = std::move(kept_.front());
  kept_.erase(kept_.begin());
  return message;
}

std::string McpClient::NextLine(std::chrono::milliseconds timeout) {
  return ReadLine(Clock::now() + timeout);
}

std::string McpClient::ReadLine(Clock::time_point deadline) {
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = received_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    if (!Pump(deadline)) throw std::runtime_error("the server has ended: " + log_);
  }
}

bool McpClient::Pump(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  std::array<pollfd, 2> polled = {{{process_.standard_output().get(), POLLIN, 0},
                                   {process_.standard_error().get(), POLLIN, 0}}};
  if (left.count() <= 0 ||
      ::poll(polled.data(), polled.size(), static_cast<int>(left.count())) == 0) {
    throw std::runtime_error("no answer from the server in time; its log: " + log_);
  }
  std::array<char, 65536> buffer{};
  if (polled[1].revents != 0) {
    const ssize_t count = ::read(polled[1].fd, buffer.data(), buffer.size());
    if (count > 0) log_.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0) process_.standard_error().Close();
  }
  if (polled[0].revents != 0) {
    const ssize_t count = ::read(polled[0].fd, buffer.data(), buffer.size());
    if (count == 0) return false;
    if (count > 0) received_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return true;
}

int McpClient::CloseAndWait(std::chrono::milliseconds timeout) {
  process_.standard_input().Close();
  const auto deadline = Clock::now() + timeout;
  while (Pump(deadline)) {
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  const std::optional<int> status = process_.Wait(left);
  if (!status) throw std::runtime_error("the server did not end: " + log_);
  return WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
}

std::vector<ToolCall> CallsOfEveryTool(const std::string& directory, const std::string& file) {
  const std::string path = directory + "/" + file;
  const json touch = {{"command", {"touch", "touched"}}, {"directory", directory}};
  return {{"glob", {{"pattern", "*.txt"}, {"path", directory}}},
          {"list_directory", {{"path", directory}}},
          {"read_file", {{"path", path}}},
          {"replace", {{"path", path}, {"old_string", "t"}, {"new_string", "T"}}},
          {"run_shell_command", touch},
          {"search_file_content", {{"pattern", "t"}, {"path", directory}}},
          {"start_process", touch},
          {"write_file", {{"path", path}, {"content", "new text\n"}}},
          {"write_file", {{"path", directory + "/new/file.txt"}, {"content", "new text\n"}}}};
}

std::string TextOf(const json& tool_result) {
  std::string text;
  for (const json& block : tool_result.at("content")) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += block.contains("text") ? block["text"].get<std::string>()
                                   : "[" + block.at("mimeType").get<std::string>() + "]";
  }
  return text;
}

}  // namespace testing_support
