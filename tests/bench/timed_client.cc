#include "bench/timed_client.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr std::size_t kReadSize = std::size_t{1024} * 1024;
constexpr int kPatienceMilliseconds = 120'000;

double Since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

TimedClient::TimedClient(const testing_support::ChildProcess::Options& server)
    : process_(server), buffer_(kReadSize, '\0') {
  std::signal(SIGPIPE, SIG_IGN);
  Send(Request("initialize", {{"protocolVersion", "2025-06-18"},
                              {"capabilities", json::object()},
                              {"clientInfo", {{"name", "bench"}, {"version", "1"}}}}));
  RequireGood(ReadLine());
  start_time_ = Since(started_);
  Send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

std::string TimedClient::Request(const std::string& method, const json& params) {
  const json request = {
      {"jsonrpc", "2.0"}, {"id", next_id_++}, {"method", method}, {"params", params}};
  return request.dump() + "\n";
}

void TimedClient::Send(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(process_.standard_input().get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::runtime_error("the server does not read any more");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string_view TimedClient::ReadLine() {
  std::size_t searched = begin_;
  while (true) {
    const std::size_t line_end = std::string_view(buffer_).substr(0, end_).find('\n', searched);
    if (line_end != std::string_view::npos) {
      const std::string_view line = std::string_view(buffer_).substr(begin_, line_end - begin_);
      begin_ = line_end + 1;
      return line;
    }
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    searched = end_;
    if (buffer_.size() < end_ + kReadSize) buffer_.resize(2 * (end_ + kReadSize));
    pollfd ready = {.fd = process_.standard_output().get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kPatienceMilliseconds) == 0) {
      throw std::runtime_error("no answer from the server in time");
    }
    const ssize_t count = ::read(ready.fd, buffer_.data() + end_, kReadSize);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::runtime_error("the server has ended");
    end_ += static_cast<std::size_t>(count);
  }
}

void TimedClient::RequireGood(std::string_view answer) const {
  // Parsing tens of megabytes takes long; the beginning of a large answer tells enough.
  constexpr std::size_t kSmall = 100'000;
  const bool large = answer.size() > kSmall;
  const json parsed = large ? json::object({{"result", json::object()}}) : json::parse(answer);
  if (!parsed.contains("result") || parsed["result"].value("isError", false)) {
    throw std::runtime_error("not a good answer: " + std::string(answer.substr(0, 1000)));
  }
}

double TimedClient::Call(const std::string& tool, const json& arguments) {
  return CallInARow(tool, arguments, 1).front();
}

std::vector<double> TimedClient::CallInARow(const std::string& tool, const json& arguments,
                                            int count) {
  std::vector<std::string> requests;
  for (int i = 0; i < count; ++i) {
    requests.push_back(Request("tools/call", {{"name", tool}, {"arguments", arguments}}));
  }
  std::vector<double> times;
  std::vector<std::string> answers;
  for (const std::string& request : requests) {
    const Clock::time_point start = Clock::now();
    Send(request);
    const std::string_view answer = ReadLine();
    times.push_back(Since(start));
    answers.emplace_back(answer);
  }
  for (const std::string& answer : answers) RequireGood(answer);
  return times;
}

double TimedClient::CallAtOnce(const std::string& tool, const json& arguments, int count) {
  std::string requests;
  for (int i = 0; i < count; ++i) {
    requests += Request("tools/call", {{"name", tool}, {"arguments", arguments}});
  }
  const Clock::time_point start = Clock::now();
  Send(requests);
  for (int i = 0; i < count; ++i) RequireGood(ReadLine());
  return Since(start);
}

}  // namespace bench
