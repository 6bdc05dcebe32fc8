#include "mcp/server.h"

#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "mcp/dispatcher.h"
#include "support/log.h"

namespace mcp {
namespace {

void ReturnLargeBlocks() {
#ifdef __GLIBC__
  // By default glibc keeps freed blocks of up to 32 MiB, and an idle server would hold on to the
  // memory of its largest message.
  constexpr int kLargeBlock = 1024 * 1024;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
#endif
}

}  // namespace

Server::Server(ServerOptions options, std::vector<std::unique_ptr<Tool>> tools)
    : options_(std::move(options)), tools_(std::move(tools)) {}

Server::~Server() = default;

Server::Exit Server::Serve(int input_fd, int output_fd) {
  ReturnLargeBlocks();
  {
    const std::scoped_lock lock(mutex_);
    transport_ = std::make_unique<Transport>(input_fd, output_fd);
    if (stop_requested_) transport_->Interrupt();
  }
  Heartbeat& heartbeat = options_.heartbeat != nullptr ? *options_.heartbeat : heartbeat_;
  LineWriter& output = transport_->output();
  dispatcher_ = std::make_unique<Dispatcher>(options_, tools_, output, heartbeat);
  const support::StopReason reason = ReceiveAll();

  ToolCalls& calls = dispatcher_->calls();
  output.GiveUpWaiting();
  calls.StopAll(reason);
  const bool ended = calls.WaitUntilIdle(support::Clock::now() + options_.stop_grace);
  if (!ended) calls.RecordUnfinished();
  dispatcher_->CloseListeners();
  if (!output.Flush(options_.client_timeout)) {
    support::LogWarning("the client did not read the last answers");
  }
  return {reason, ended};
}

void Server::Stop(support::StopReason reason) {
  const std::scoped_lock lock(mutex_);
  if (!stop_requested_) stop_requested_ = reason;
  if (transport_) transport_->Interrupt();
}

support::StopReason Server::ReceiveAll() {
  bool is_first = true;
  std::string line;
  while (true) {
    switch (transport_->Receive(line)) {
      case Transport::Received::kLine:
        dispatcher_->Handle(std::exchange(line, {}));
        break;
      case Transport::Received::kLineTooLong:
        dispatcher_->HandleLineTooLong();
        break;
      case Transport::Received::kEndOfInput:
        dispatcher_->calls().WaitUntilIdle(support::Clock::now() + options_.end_of_input_grace);
        return support::StopReason::kEndOfInput;
      case Transport::Received::kOutputClosed:
        return support::StopReason::kEndOfInput;
      case Transport::Received::kInterrupted: {
        const std::scoped_lock lock(mutex_);
        return stop_requested_.value_or(support::StopReason::kTerminated);
      }
    }
    if (std::exchange(is_first, false)) options_.on_first_message();
  }
}

}  // namespace mcp
