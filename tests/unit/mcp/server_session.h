#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fake_tools.h"
#include "mcp/line_reader.h"
#include "mcp/server.h"

namespace mcp {

inline constexpr std::size_t kMiB = std::size_t{1024} * 1024;

/// A server in a thread and the two pipes to it.
class Session {
 public:
  /// Whether the output is closed when `Serve` returns. A server with unread answers writes until
  /// it is destroyed and needs it open.
  enum class Output { kClosedAtExit, kLeftOpen };

  explicit Session(
      const std::function<void(ServerOptions&)>& change = [](ServerOptions&) {},
      Output output = Output::kClosedAtExit) {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe(to_server_.data()), 0);
    EXPECT_EQ(::pipe(from_server_.data()), 0);
    reader_ = std::make_unique<LineReader>(from_server_[0]);
    ServerOptions options = transcripts::FakeServerOptions(heartbeat_);
    change(options);
    server_ = std::make_unique<Server>(options, transcripts::MakeFakeTools(heartbeat_));
    exit_ = std::async(std::launch::async, [this, output] {
      const Server::Exit exit = server_->Serve(to_server_[0], from_server_[1]);
      if (output == Output::kClosedAtExit) ::close(std::exchange(from_server_[1], -1));
      return exit;
    });
  }

  ~Session() {
    server_->Stop(support::StopReason::kTerminated);
    if (exit_.valid()) exit_.wait();
    server_.reset();
    for (const int fd : to_server_) ::close(fd);
    ::close(from_server_[0]);
    if (from_server_[1] >= 0) ::close(from_server_[1]);
  }
  Session(const Session&) = delete;

  void Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(to_server_[1], bytes.data(), bytes.size());
      ASSERT_GT(count, 0);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void Call(int id, const std::string& tool, const nlohmann::json& arguments) const {
    Send(nlohmann::json{{"jsonrpc", "2.0"},
                        {"id", id},
                        {"method", "tools/call"},
                        {"params", {{"name", tool}, {"arguments", arguments}}}}
             .dump() +
         "\n");
  }

  void Initialize() {
    Send("{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\"}\n");
    EXPECT_TRUE(Read().contains("result"));
  }

  void ExpectPingIsAnswered() {
    Send("{\"jsonrpc\":\"2.0\",\"id\":\"ping\",\"method\":\"ping\"}\n");
    EXPECT_EQ(Read()["id"], "ping");
  }

  /// The next line; empty at the end of output.
  std::string ReadLine() {
    std::string line;
    while (true) {
      const LineReader::Result result = reader_->Next(line);
      if (result == LineReader::Result::kLine) return line;
      if (result == LineReader::Result::kEndOfInput) return {};
      reader_->Fill();
    }
  }

  /// The next message; null at the end of output.
  nlohmann::json Read() {
    const std::string line = ReadLine();
    return line.empty() ? nlohmann::json() : nlohmann::json::parse(line);
  }

  std::vector<nlohmann::json> ReadToTheEnd() {
    std::vector<nlohmann::json> messages;
    for (nlohmann::json message = Read(); !message.is_null(); message = Read())
      messages.push_back(message);
    return messages;
  }

  void CloseInput() { ::close(std::exchange(to_server_[1], -1)); }
  void CloseOutput() { ::close(std::exchange(from_server_[0], -1)); }
  Server& server() { return *server_; }
  transcripts::FakeHeartbeat& heartbeat() { return heartbeat_; }

  /// Waits for the end of `Serve`.
  Server::Exit Exit() {
    EXPECT_EQ(exit_.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    return exit_.get();
  }

 private:
  std::array<int, 2> to_server_ = {};
  std::array<int, 2> from_server_ = {};
  transcripts::FakeHeartbeat heartbeat_;
  std::unique_ptr<Server> server_;
  std::future<Server::Exit> exit_;
  std::unique_ptr<LineReader> reader_;
};

}  // namespace mcp
