// SPDX-License-Identifier: Apache-2.0
#include "mcp/server.h"

#include <poll.h>

#include <array>
#include <csignal>
#include <exception>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "mcp/json_writer.h"
#include "support/format.h"
#include "support/log.h"

namespace mcp {
namespace {

using support::StopReason;

/// How long clients may rely on `tools/list`, which never changes for a client.
constexpr int kToolsTtlMilliseconds = 3'600'000;

const Json kCapabilities = {{"tools", Json::object()}};

std::string MetaKeys() {
  return support::Format("\"{}\" and \"{}\"", kProtocolVersionKey, kClientCapabilitiesKey);
}

void AddCacheHints(Json& result, int ttl_milliseconds) {
  result["ttlMs"] = ttl_milliseconds;
  result["cacheScope"] = "private";
}

void ReturnLargeBlocks() {
#ifdef __GLIBC__
  // By default glibc keeps freed blocks of up to 32 MiB, and an idle server would hold on to the
  // memory of its largest message.
  constexpr int kLargeBlock = 1024 * 1024;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
#endif
}

}  // namespace

Server::Server(ServerOptions options, std::vector<Tool> tools, int input_fd, int output_fd)
    : options_(std::move(options)),
      tools_(std::move(tools)),
      input_fd_(input_fd),
      reader_(input_fd),
      writer_(output_fd, wake_, options_.max_unread),
      requests_(writer_),
      pool_(options_.limits) {
  ReturnLargeBlocks();
  (void)std::signal(SIGPIPE, SIG_IGN);
}

Server::Exit Server::Serve() {
  const StopReason reason = ReceiveAll();
  const bool ended = StopCalls(reason);
  CloseListeners();
  if (!writer_.Flush(options_.client_timeout)) {
    support::LogWarning("the client did not read the last answers");
  }
  return {reason, ended};
}

void Server::Stop(StopReason reason) {
  StopReason none = StopReason::kNone;
  stop_reason_.compare_exchange_strong(none, reason);
  wake_.Wake();
}

StopReason Server::ReceiveAll() {
  bool is_first = true;
  std::string line;
  while (true) {
    // A client that does not read must not make memory grow. While the output is full the input is
    // not polled: its data would wake macOS's poll() even when only POLLHUP is requested.
    const bool has_room = writer_.HasRoom();
    const auto next = has_room ? reader_.Next(line) : LineReader::Result::kNeedMore;
    if (next == LineReader::Result::kEndOfInput) {
      WaitForQuickCalls();
      return StopReason::kEndOfInput;
    }
    std::array<pollfd, 3> fds = {
        {{.fd = wake_.fd(), .events = POLLIN, .revents = 0},
         writer_.Polled(),
         {.fd = has_room ? input_fd_ : -1, .events = POLLIN, .revents = 0}}};
    const int until_progress = ProgressIfDue();
    ::poll(fds.data(), fds.size(), next == LineReader::Result::kNeedMore ? until_progress : 0);
    if (fds[0].revents != 0) wake_.Drain();
    if (stop_reason_ != StopReason::kNone) return stop_reason_;
    if ((fds[1].revents & (POLLERR | POLLHUP)) != 0) return StopReason::kEndOfInput;
    if ((fds[1].revents & POLLOUT) != 0) writer_.WriteMore();
    if (next == LineReader::Result::kNeedMore) {
      if (fds[2].revents != 0) reader_.Fill();
      continue;
    }
    if (next == LineReader::Result::kLine) {
      Handle(std::exchange(line, {}));
    } else {
      Refuse({}, {ErrorCode::kParseError, "the line is too long and was discarded"});
    }
    if (std::exchange(is_first, false)) options_.on_first_message();
  }
}

void Server::WaitForQuickCalls() {
  bool may_wait = true;
  while (may_wait) {
    pollfd output = writer_.Polled();
    ::poll(&output, 1, 0);
    may_wait = options_.is_connecting() && stop_reason_ == StopReason::kNone &&
               (output.revents & (POLLERR | POLLHUP)) == 0;
    if (pool_.WaitUntilIdle(support::Clock::now() + options_.end_of_input_grace)) return;
  }
}

void Server::Handle(std::string line) {
  Message message = ParseMessage(std::move(line));
  if (message.error) return Refuse(message.id, *message.error);
  if (message.id) return HandleRequest(message);
  // No other notification, `notifications/initialized` included, needs any action.
  if (message.method != "notifications/cancelled") return;
  if (const auto id = ParseCancelled(message.params)) requests_.Cancel(*id);
}

void Server::Refuse(const std::optional<RequestId>& id, const ProtocolError& error) {
  const std::string member = ErrorMember(error);
  if (!id) return writer_.Write(R"({"jsonrpc":"2.0",)" + member + "}");
  if (auto reply = requests_.Open(*id)) reply->Send(member);
}

void Server::HandleRequest(Message& request) {
  std::optional<Responder> reply = requests_.Open(*request.id);
  if (!reply) return;
  const std::string& method = request.method;
  try {
    const RequestContext context = ContextFor(request);
    if (method == "tools/call") return StartCall(request, context, *reply);
    if (method == "tools/list") return ListTools(request, context, *reply);
    if (context.era == Era::kModern) {
      if (method == "server/discover") return Discover(*reply);
      if (method == "subscriptions/listen") return Listen(request, *reply);
    } else {
      if (method == "initialize") return Initialize(request, *reply);
      if (method == "ping") return reply->Result(Json::object());
    }
    throw ProtocolError(ErrorCode::kMethodNotFound,
                        support::Format("method not found: {}", QuoteName(method)));
  } catch (...) {
    reply->Send(OutcomeOf(std::current_exception(), Era::kLegacy, options_.info).response);
  }
}

/// Decides in which era the request is answered (MCP 2026-07-28, basic/versioning).
RequestContext Server::ContextFor(const Message& request) const {
  if (HasModernMeta(request.params)) {
    CheckModernMeta(request.params);
    return {.era = Era::kModern,
            .format = options_.result_format(ClientName(request.params, Era::kModern))};
  }
  if (request.method == "server/discover") {
    throw InvalidParams(support::Format("server/discover needs \"_meta\" with {}", MetaKeys()));
  }
  const bool needs_session = request.method != "initialize" && request.method != "ping";
  if (needs_session && !legacy_format_) {
    throw InvalidParams(support::Format(
        "either send \"initialize\" first, or put {} into the \"_meta\" of every request",
        MetaKeys()));
  }
  return {.format = legacy_format_.value_or(ResultFormat())};
}

void Server::Initialize(const Message& request, Responder& reply) {
  const Json result = {{"protocolVersion", ParseInitialize(request.params)},
                       {"capabilities", kCapabilities},
                       {"serverInfo", options_.info},
                       {"instructions", options_.instructions()}};
  legacy_format_ = options_.result_format(ClientName(request.params, Era::kLegacy));
  reply.Result(result);
}

void Server::Discover(Responder& reply) {
  Json result = NewResult(Era::kModern, options_.info);
  result["supportedVersions"] = kVersions;
  result["capabilities"] = kCapabilities;
  result["instructions"] = options_.instructions();
  AddCacheHints(result, 0);  // the instructions change with the mounts
  reply.Result(result);
}

void Server::ListTools(const Message& request, const RequestContext& context, Responder& reply) {
  CheckCursor(request.params);
  Json result = NewResult(context.era, options_.info);
  Json& tools = result["tools"] = Json::array();
  for (const Tool& tool : tools_) {
    tools.emplace_back(Describe(tool.definition, context.format.style));
  }
  if (context.era == Era::kModern) AddCacheHints(result, kToolsTtlMilliseconds);
  reply.Result(result);
}

/// Acknowledges the request and holds it open until it is cancelled. There are no notifications to
/// send: tools never change.
void Server::Listen(const Message& request, Responder& reply) {
  CheckListen(request.params);
  reply.Notify("notifications/subscriptions/acknowledged",
               {{"_meta", {{kSubscriptionIdKey, Json::parse(reply.id())}}},
                {"notifications", Json::object()}});
  listeners_.push_back(std::move(reply));
}

void Server::CloseListeners() {
  for (Responder& listener : listeners_) {
    Json result = NewResult(Era::kModern, options_.info);
    result["_meta"][kSubscriptionIdKey] = Json::parse(listener.id());
    listener.Result(result);
  }
  listeners_.clear();
}

}  // namespace mcp
