#include "mcp/dispatcher.h"

#include <exception>
#include <mutex>
#include <set>
#include <utility>

#include "mcp/json_writer.h"
#include "mcp/outcome.h"
#include "mcp/protocol.h"
#include "support/log.h"

namespace mcp {
namespace {

using nlohmann::json;

/// The answer of a request that came alone.
class LineSink : public ReplySink {
 public:
  explicit LineSink(Transport& transport) : transport_(transport) {}
  void Deliver(const RequestId*, Line response) override { transport_.Send(std::move(response)); }

 private:
  Transport& transport_;
};

/// The answers of a batch: one array once all have come; nothing when there are none. Destroyed
/// with the last request that belongs to it.
class BatchSink : public ReplySink {
 public:
  /// `kept` is what all batches of the connection keep.
  BatchSink(Transport& transport, std::shared_ptr<std::atomic<std::size_t>> kept)
      : transport_(transport), kept_(std::move(kept)) {}

  ~BatchSink() override {
    *kept_ -= bytes_;
    if (responses_.empty()) return;
    responses_.Append("]");
    transport_.Send(std::move(responses_));
  }
  BatchSink(const BatchSink&) = delete;
  BatchSink& operator=(const BatchSink&) = delete;

  void Deliver(const RequestId* id, Line response) override {
    if (*kept_ >= Dispatcher::kMaxBatchBytes) {
      Line refusal = ErrorResponse(id, NotKept());
      if (refusal.kept_bytes() < response.kept_bytes()) response = std::move(refusal);
    }
    const std::size_t bytes = response.kept_bytes();
    const std::scoped_lock lock(mutex_);
    *kept_ += bytes;
    bytes_ += bytes;
    responses_.Append(responses_.empty() ? "[" : ",");
    responses_.Append(std::move(response));
  }

 private:
  static ProtocolError NotKept() {
    return {ErrorCode::kInternalError,
            "the request was carried out, but its answer was not kept until all of its batch have "
            "one: the answers of batches take too much memory. Ask outside of a batch; repeat only "
            "what may be done twice"};
  }

  Transport& transport_;
  const std::shared_ptr<std::atomic<std::size_t>> kept_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;  // its own part of what is kept
  Line responses_;
};

ProtocolError InvalidRequest(const std::string& message) {
  return {ErrorCode::kInvalidRequest, message};
}

ProtocolError NotBegun() {
  return {ErrorCode::kInternalError,
          "not begun: the answers of earlier batches take too much memory. Wait until those are "
          "complete, or ask outside of a batch"};
}

ProtocolError MissingTasksCapability() {
  const json extensions = {{std::string(kTasksExtension), json::object()}};
  return {ErrorCode::kMissingClientCapability,
          "Missing required client capability",
          {{"requiredCapabilities", {{"extensions", extensions}}}}};
}

/// What an element of a batch is reckoned as: written again, since its share of the line is not
/// known any more, and an equal share would hide a large one behind many small ones.
std::size_t BytesOf(const Message& message) {
  const auto* request = std::get_if<Request>(&message);
  return request == nullptr ? 0 : request->id.json().size() + ToJson(request->params).size();
}

/// Under which id it would be answered; null when there is none.
const RequestId* IdOf(const Message& message) {
  if (const auto* request = std::get_if<Request>(&message)) return &request->id;
  const auto* malformed = std::get_if<Malformed>(&message);
  return malformed != nullptr && malformed->id ? &*malformed->id : nullptr;
}

}  // namespace

/// What is known of a request before its own parameters are looked at.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): there is no Dialect without a version
struct Dispatcher::Context {
  Dialect dialect;
  bool tasks_extension = false;
  bool in_batch = false;
  std::size_t bytes = 0;  // of the message
};

struct Dispatcher::Method {
  std::string_view name;
  bool legacy;
  bool modern;
  void (Dispatcher::*handle)(Request&, const Context&, Reply&);
};

// clang-format off
/// Every method there is. One that the request's era does not have is "method not found".
const Dispatcher::Method Dispatcher::kMethods[] = {
    // name                  legacy modern
    {"initialize",           true,  false, &Dispatcher::Initialize},
    {"ping",                 true,  false, &Dispatcher::Ping},
    {"server/discover",      false, true,  &Dispatcher::Discover},
    {"tools/list",           true,  true,  &Dispatcher::ListTools},
    {"tools/call",           true,  true,  &Dispatcher::CallTool},
    {"subscriptions/listen", false, true,  &Dispatcher::Listen},
    {"tasks/get",            false, true,  &Dispatcher::GetTask},
    {"tasks/update",         false, true,  &Dispatcher::UpdateTask},
    {"tasks/cancel",         false, true,  &Dispatcher::CancelTask},
};
// clang-format on

void Dispatcher::Handle(std::string line) {
  try {
    HandleLine(std::move(line));
  } catch (const std::exception& error) {
    // Such as that there is no memory for so large a message. It must not end the server, which
    // would have to wait for the calls that run and hear nobody meanwhile.
    support::LogError(std::string("a message was dropped: ") + error.what());
    LineSink(parts_.transport)
        .Deliver(nullptr,
                 ErrorResponse(nullptr, ProtocolError(ErrorCode::kInternalError,
                                                      std::string("internal error: the message "
                                                                  "cannot be handled: ") +
                                                          error.what())));
  }
}

void Dispatcher::HandleLine(std::string line) {
  const std::size_t bytes = line.size();
  std::variant<Message, Batch> parsed = ParseMessage(line);
  std::string().swap(line);  // it may be large, and a call may take long
  if (auto* batch = std::get_if<Batch>(&parsed)) {
    HandleBatch(std::move(*batch));
  } else {
    HandleMessage(std::get<Message>(std::move(parsed)), bytes, false,
                  std::make_shared<LineSink>(parts_.transport));
  }
}

void Dispatcher::HandleLineTooLong() {
  LineSink(parts_.transport)
      .Deliver(nullptr,
               ErrorResponse(nullptr, ProtocolError(ErrorCode::kParseError,
                                                    "the line is too long and was discarded")));
}

void Dispatcher::HandleBatch(Batch batch) {
  const bool allowed = session_ && Dialect(*session_).batches();
  if (!allowed || batch.messages.empty()) {
    const std::string flaw =
        allowed ? "a batch must not be empty" : "batches are part of version 2025-03-26 only";
    LineSink(parts_.transport).Deliver(nullptr, ErrorResponse(nullptr, InvalidRequest(flaw)));
    return;
  }
  // The answers of a batch that is not begun are complete at once: nothing is kept of them.
  const bool has_room = *batch_bytes_ < kMaxBatchBytes;
  const auto kept = has_room ? batch_bytes_ : std::make_shared<std::atomic<std::size_t>>(0U);
  const auto sink = std::make_shared<BatchSink>(parts_.transport, kept);
  std::set<RequestId> ids;  // none of them is answered before all are
  for (Message& message : batch.messages) {
    const RequestId* id = IdOf(message);
    if (id != nullptr && !ids.insert(*id).second) {
      support::LogWarning("dropped: a request with the id of another one in its batch");
      continue;
    }
    if (const auto* request = std::get_if<Request>(&message); request != nullptr && !has_room) {
      Refuse({request->id, NotBegun()}, *sink);
      continue;
    }
    const std::size_t bytes = BytesOf(message);
    HandleMessage(std::move(message), bytes, true, sink);
  }
}

void Dispatcher::HandleMessage(Message message, std::size_t bytes, bool in_batch,
                               const std::shared_ptr<ReplySink>& sink) {
  if (const auto* malformed = std::get_if<Malformed>(&message)) {
    Refuse(*malformed, *sink);
  } else if (const auto* ignored = std::get_if<Ignored>(&message)) {
    support::LogWarning("ignored: " + ignored->reason);
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    HandleNotification(*notification);
  } else {
    auto& request = std::get<Request>(message);
    auto pending = parts_.in_flight.Open(request.id, sink);
    if (!pending) {
      support::LogWarning("dropped: a request with the id of one that is still in flight");
      return;
    }
    HandleRequest(std::move(request), bytes, in_batch, Reply(parts_.in_flight, pending));
  }
}

void Dispatcher::Refuse(const Malformed& malformed, ReplySink& sink) const {
  if (!malformed.id) {
    sink.Deliver(nullptr, ErrorResponse(nullptr, malformed.error));
  } else if (parts_.in_flight.Contains(*malformed.id)) {
    support::LogWarning("dropped: a refused request with the id of one that is in flight");
  } else {
    sink.Deliver(&*malformed.id, ErrorResponse(&*malformed.id, malformed.error));
  }
}

void Dispatcher::HandleNotification(const Notification& notification) {
  // All others, `notifications/initialized` included, ask for nothing.
  if (notification.method != "notifications/cancelled") return;
  const std::optional<RequestId> id = ParseCancelled(notification.params);
  if (id && parts_.in_flight.Cancel(*id)) parts_.subscriptions.DropWithdrawn();
}

void Dispatcher::HandleRequest(Request request, std::size_t bytes, bool in_batch, Reply reply) {
  try {
    Context context = ContextFor(request);
    context.bytes = bytes;
    context.in_batch = in_batch;
    if (in_batch && context.dialect.era() == Era::kModern) {
      throw InvalidRequest("version 2026-07-28 has no batches");
    }
    const Method& method = FindMethod(request, context);
    (this->*method.handle)(request, context, reply);
  } catch (...) {
    const Outcome outcome = OutcomeOf(std::current_exception());
    if (const auto* error = std::get_if<ProtocolError>(&outcome)) reply.Error(*error);
  }
}

/// Which era and version the request is answered in (MCP 2026-07-28, basic/versioning).
Dispatcher::Context Dispatcher::ContextFor(const Request& request) const {
  if (HasModernMeta(request.params)) {
    const ModernMeta meta = ParseModernMeta(request.params);
    return {.dialect = Dialect(meta.version), .tasks_extension = meta.tasks_extension};
  }
  if (request.method == "server/discover") {
    throw ProtocolError(ErrorCode::kInvalidParams,
                        "server/discover needs \"_meta\" with \"" +
                            std::string(meta_key::kProtocolVersion) + "\" and \"" +
                            std::string(meta_key::kClientCapabilities) + "\"");
  }
  const bool needs_session = request.method != "initialize" && request.method != "ping";
  if (needs_session && !session_) {
    throw ProtocolError(ErrorCode::kInvalidParams, "either send \"initialize\" first, or put \"" +
                                                       std::string(meta_key::kProtocolVersion) +
                                                       "\" and \"" +
                                                       std::string(meta_key::kClientCapabilities) +
                                                       "\" into the \"_meta\" of every request");
  }
  return {.dialect = Dialect(session_.value_or(kNewestLegacyVersion))};
}

const Dispatcher::Method& Dispatcher::FindMethod(const Request& request, const Context& context) {
  const bool modern = context.dialect.era() == Era::kModern;
  for (const Method& method : kMethods) {
    if (method.name == request.method && (modern ? method.modern : method.legacy)) return method;
  }
  throw ProtocolError(ErrorCode::kMethodNotFound, "method not found: " + QuoteName(request.method));
}

void Dispatcher::Initialize(Request& request, const Context& context, Reply& reply) {
  if (context.in_batch) throw InvalidRequest("\"initialize\" must not be part of a batch");
  if (session_) throw InvalidRequest("the session is initialized already");
  const Version version = ParseInitialize(request.params);
  std::string result;
  ObjectWriter object(result);
  object.Member("protocolVersion", Name(version));
  object.Member("capabilities", json{{"tools", json::object()}});
  object.Member("serverInfo", Describe(parts_.server));
  object.Member("instructions", std::string_view(parts_.instructions()));
  object.End();
  session_ = version;  // not before: whatever fails above may be tried again
  reply.Result(std::move(result));
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): one of a table of members
void Dispatcher::Ping(Request& /*request*/, const Context& /*context*/, Reply& reply) {
  reply.Result("{}");
}

void Dispatcher::Discover(Request& /*request*/, const Context& context, Reply& reply) {
  const json capabilities = {{"tools", json::object()},
                             {"extensions", {{std::string(kTasksExtension), json::object()}}}};
  std::string result;
  ObjectWriter object(result);
  context.dialect.BeginResult(object, parts_.server);
  object.Member("supportedVersions", SupportedVersions());
  object.Member("capabilities", capabilities);
  object.Member("instructions", std::string_view(parts_.instructions()));
  context.dialect.AddCacheHints(object);
  object.End();
  reply.Result(std::move(result));
}

void Dispatcher::ListTools(Request& request, const Context& context, Reply& reply) {
  CheckCursor(request.params);
  std::string result;
  ObjectWriter object(result);
  context.dialect.BeginResult(object, parts_.server);
  object.RawMember("tools", parts_.tools.Describe(context.dialect));
  context.dialect.AddCacheHints(object);
  object.End();
  reply.Result(std::move(result));
}

void Dispatcher::CallTool(Request& request, const Context& context, Reply& reply) {
  std::optional<std::string> token = ParseProgressToken(request.params);
  CallToolParams params = ParseCallTool(std::move(request.params));
  const ToolList::Entry* entry = parts_.tools.Find(params.name);
  if (entry == nullptr) {
    const ProtocolError error(ErrorCode::kInvalidParams, "unknown tool " + QuoteName(params.name));
    parts_.calls.NoteRefused(params.name, params.arguments, error);
    throw ProtocolError(error);
  }
  if (const auto flaw = entry->input.FindFlaw(params.arguments)) {
    const ToolFailure failure{"validating \"arguments\": " + *flaw};
    parts_.calls.NoteRefused(params.name, params.arguments, failure);
    reply.Result(ToolFailureText(failure, context.dialect, parts_.server));
    return;
  }
  parts_.calls.Start(std::move(reply), {.entry = *entry,
                                        .arguments = std::move(params.arguments),
                                        .dialect = context.dialect,
                                        .progress_token = std::move(token),
                                        .may_become_task = context.tasks_extension,
                                        .bytes = context.bytes});
}

void Dispatcher::Listen(Request& request, const Context& context, Reply& reply) {
  const ListenParams params = ParseListen(request.params);
  if (params.task_ids && !context.tasks_extension) throw MissingTasksCapability();
  parts_.subscriptions.Open(std::move(reply), params.task_ids ? &*params.task_ids : nullptr);
}

void Dispatcher::GetTask(Request& request, const Context& context, Reply& reply) {
  if (!context.tasks_extension) throw MissingTasksCapability();
  std::string result;
  ObjectWriter object(result);
  context.dialect.BeginResult(object, parts_.server);
  parts_.tasks.Describe(object, ParseTaskId(request.params));
  object.End();
  reply.Result(std::move(result));
}

/// No task here ever asks for input, so whatever the update brings is of no use to it.
void Dispatcher::UpdateTask(Request& request, const Context& context, Reply& reply) {
  if (!context.tasks_extension) throw MissingTasksCapability();
  if (!parts_.tasks.Contains(ParseTaskId(request.params))) {
    throw ProtocolError(ErrorCode::kInvalidParams, "unknown task");
  }
  Acknowledge(context, reply);
}

void Dispatcher::CancelTask(Request& request, const Context& context, Reply& reply) {
  if (!context.tasks_extension) throw MissingTasksCapability();
  parts_.tasks.Cancel(ParseTaskId(request.params));
  Acknowledge(context, reply);
}

void Dispatcher::Acknowledge(const Context& context, Reply& reply) const {
  std::string result;
  ObjectWriter object(result);
  context.dialect.BeginResult(object, parts_.server);
  object.End();
  reply.Result(std::move(result));
}

}  // namespace mcp
