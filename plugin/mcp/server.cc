#include "mcp/server.h"

#include <atomic>
#include <stdexcept>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "mcp/client_patience.h"
#include "mcp/dispatcher.h"
#include "mcp/in_flight.h"
#include "mcp/stdio_transport.h"
#include "mcp/subscriptions.h"
#include "mcp/tasks.h"
#include "mcp/tool_calls.h"
#include "mcp/tool_list.h"
#include "support/log.h"

namespace mcp {
namespace {

/// Passes everything on and remembers that something was sent.
class NotingTransport : public Transport {
 public:
  explicit NotingTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  Received Receive(std::string& line) override { return inner_->Receive(line); }
  void Send(Line line) override {
    inner_->Send(std::move(line));
    sent_ = true;
  }
  [[nodiscard]] bool HasRoom() const override { return inner_->HasRoom(); }
  void WaitForRoom() override { inner_->WaitForRoom(); }
  void Interrupt() override { inner_->Interrupt(); }
  void GiveUpWaiting() override { inner_->GiveUpWaiting(); }
  [[nodiscard]] std::uint64_t BytesTaken() const override { return inner_->BytesTaken(); }
  bool Flush(std::chrono::steady_clock::time_point deadline) override {
    return inner_->Flush(deadline);
  }

  [[nodiscard]] bool sent() const { return sent_; }

 private:
  const std::unique_ptr<Transport> inner_;
  std::atomic<bool> sent_ = false;
};

void GiveLargeBlocksBack() {
#ifdef __GLIBC__
  // Otherwise glibc keeps blocks of up to 32 MiB for later once the first of them was freed, and an
  // idle server would hold on to the memory of its largest message.
  constexpr int kLargeBlock = 1024 * 1024;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
#endif
}

}  // namespace

/// What one connection consists of, in the order of the dependencies.
struct Server::Connection {
  Connection(const ServerOptions& options, const ToolList& tools, Scheduler& scheduler,
             std::unique_ptr<Transport> given)
      : transport(std::move(given)),
        in_flight(transport),
        tasks(scheduler, options.info),
        subscriptions(in_flight, tasks, options.info),
        calls({.transport = transport,
               .in_flight = in_flight,
               .scheduler = scheduler,
               .tasks = tasks,
               .subscriptions = subscriptions,
               .server = options.info,
               .task_threshold = options.task_threshold,
               .observer = options.observer},
              options.limits),
        dispatcher({.server = options.info,
                    .instructions = options.instructions,
                    .tools = tools,
                    .transport = transport,
                    .in_flight = in_flight,
                    .calls = calls,
                    .tasks = tasks,
                    .subscriptions = subscriptions}) {}

  NotingTransport transport;
  InFlight in_flight;
  TaskStore tasks;
  Subscriptions subscriptions;
  ToolCalls calls;
  Dispatcher dispatcher;
};

struct Server::Parts {
  explicit Parts(std::vector<std::unique_ptr<Tool>> given) : tools(std::move(given)) {}

  // What is to be done later uses the connection, whose calls ask for the time as long as they run.
  ~Parts() { scheduler.End(); }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  ToolList tools;
  ThreadScheduler scheduler;
  std::unique_ptr<Connection> connection;
};

Server::Server(ServerOptions options, std::vector<std::unique_ptr<Tool>> tools)
    : options_(std::move(options)), parts_(std::make_unique<Parts>(std::move(tools))) {}

Server::~Server() = default;

Server::Exit Server::Serve(int input_fd, int output_fd) {
  return Serve(std::make_unique<StdioTransport>(input_fd, output_fd, options_.client_patience));
}

Server::Exit Server::Serve(std::unique_ptr<Transport> transport) {
  GiveLargeBlocksBack();
  Scheduler& scheduler = options_.scheduler != nullptr ? *options_.scheduler : parts_->scheduler;
  {
    const std::scoped_lock lock(mutex_);
    if (parts_->connection) throw std::logic_error("a server serves once");
    parts_->connection =
        std::make_unique<Connection>(options_, parts_->tools, scheduler, std::move(transport));
    if (stop_requested_) parts_->connection->transport.Interrupt();
  }
  return ShutDown(ReceiveAll());
}

void Server::Stop(support::StopReason reason) {
  const std::scoped_lock lock(mutex_);
  if (!stop_requested_) stop_requested_ = reason;
  if (parts_->connection) parts_->connection->transport.Interrupt();
}

support::StopReason Server::ReceiveAll() {
  Connection& connection = *parts_->connection;
  bool first_response_noted = false;
  std::string line;
  while (true) {
    switch (connection.transport.Receive(line)) {
      case Transport::Received::kLine:
        connection.dispatcher.Handle(std::exchange(line, {}));
        break;
      case Transport::Received::kLineTooLong:
        connection.dispatcher.HandleLineTooLong();
        break;
      case Transport::Received::kEndOfInput:
        connection.calls.WaitUntilIdle(support::Clock::now() + options_.end_of_input_grace);
        return support::StopReason::kEndOfInput;
      case Transport::Received::kOutputClosed:
        return support::StopReason::kEndOfInput;
      case Transport::Received::kInterrupted: {
        const std::scoped_lock lock(mutex_);
        return stop_requested_.value_or(support::StopReason::kTerminated);
      }
    }
    if (!first_response_noted && connection.transport.sent()) {
      first_response_noted = true;
      options_.on_first_response();
    }
  }
}

/// Waits until the client has all answers; false when it will not take them.
bool Server::FlushAll(support::StopReason reason) {
  Transport& transport = parts_->connection->transport;
  ClientPatience patience(options_.client_patience, transport.BytesTaken());
  while (true) {
    const support::Clock::time_point deadline = support::Clock::now() + options_.flush_grace;
    if (transport.Flush(deadline)) return true;
    if (support::Clock::now() < deadline || reason != support::StopReason::kEndOfInput)
      return false;
    {
      const std::scoped_lock lock(mutex_);
      if (stop_requested_) return false;
    }
    // Whoever sends all it has and then reads, slowly, gets all answers.
    if (patience.IsOver(transport.BytesTaken())) return false;
  }
}

Server::Exit Server::ShutDown(support::StopReason reason) {
  Connection& connection = *parts_->connection;
  connection.transport.GiveUpWaiting();
  connection.calls.StopAll(reason);
  const bool ended = connection.calls.WaitUntilIdle(support::Clock::now() + options_.stop_grace);
  if (!ended) connection.calls.NoteUnfinished();
  connection.subscriptions.CloseAll();
  if (!FlushAll(reason)) {
    support::LogWarning("the client did not take the last answers");
  }
  return {reason, ended};
}

}  // namespace mcp
