#include "mcp/dispatcher.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "mcp/json_writer.h"
#include "mcp/schema.h"
#include "support/log.h"

namespace mcp {
namespace {

using nlohmann::json;

/// How long clients may rely on `tools/list`, which never changes for a client.
constexpr int kToolsTtlMilliseconds = 3'600'000;

/// Limits of `subscriptions/listen`, whose ids are kept as long as the connection.
constexpr std::size_t kMaxListeners = 1024;
constexpr std::size_t kMaxListenerIdBytes = 1024;

std::string MetaKeys() {
  return "\"" + std::string(meta_key::kProtocolVersion) + "\" and \"" +
         std::string(meta_key::kClientCapabilities) + "\"";
}

void AddCacheHints(ObjectWriter& result, int ttl_milliseconds) {
  result.Member("ttlMs", json(ttl_milliseconds));
  result.Member("cacheScope", std::string_view("private"));
}

}  // namespace

/// What is known of a request before its own parameters are parsed.
struct Dispatcher::Context {
  Era era = Era::kLegacy;
  ResultFormat format = {};
};

struct Dispatcher::Method {
  std::string_view name;
  bool legacy;
  bool modern;
  void (Dispatcher::*handle)(Request&, const Context&, Reply&);
};

// clang-format off
/// All methods. One that the request's era does not have is "method not found".
const Dispatcher::Method Dispatcher::kMethods[] = {
    // name                  legacy modern
    {"initialize",           true,  false, &Dispatcher::Initialize},
    {"ping",                 true,  false, &Dispatcher::Ping},
    {"server/discover",      false, true,  &Dispatcher::Discover},
    {"tools/list",           true,  true,  &Dispatcher::ListTools},
    {"tools/call",           true,  true,  &Dispatcher::CallTool},
    {"subscriptions/listen", false, true,  &Dispatcher::Listen},
};
// clang-format on

void Dispatcher::Handle(std::string line) {
  Message message = ParseMessage(line);
  std::string().swap(line);  // it may be large, and a call may take long
  if (auto* request = std::get_if<Request>(&message)) {
    HandleRequest(*request);
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    // No other notification, `notifications/initialized` included, needs any action.
    if (notification->method != "notifications/cancelled") return;
    if (const auto id = ParseCancelled(notification->params)) requests_.Cancel(*id);
  } else if (const auto* malformed = std::get_if<Malformed>(&message)) {
    HandleMalformed(*malformed);
  } else {
    support::LogWarning("ignored: " + std::get<Ignored>(message).reason);
  }
}

void Dispatcher::HandleLineTooLong() {
  HandleMalformed({std::nullopt, ProtocolError(ErrorCode::kParseError,
                                               "the line is too long and was discarded")});
}

void Dispatcher::HandleMalformed(const Malformed& malformed) {
  if (malformed.id && requests_.IsOpen(*malformed.id)) {
    support::LogWarning("dropped: a malformed request with the id of one that is in flight");
    return;
  }
  output_.Write(ErrorResponse(malformed.id ? &*malformed.id : nullptr, malformed.error));
}

void Dispatcher::HandleRequest(Request& request) {
  std::optional<Reply> reply = requests_.Open(request.id);
  if (!reply) {
    support::LogWarning("dropped: a request with the id of one that is in flight");
    return;
  }
  try {
    const Context context = ContextFor(request);
    const Method& method = FindMethod(request, context);
    (this->*method.handle)(request, context, *reply);
  } catch (...) {
    const Outcome outcome = OutcomeOf(std::current_exception());
    if (const auto* error = std::get_if<ProtocolError>(&outcome)) reply->Error(*error);
  }
}

/// Decides in which era the request is answered (MCP 2026-07-28, basic/versioning).
Dispatcher::Context Dispatcher::ContextFor(const Request& request) const {
  if (HasModernMeta(request.params)) {
    CheckModernMeta(request.params);
    return {.era = Era::kModern,
            .format = options_.result_format(ClientName(request.params, Era::kModern))};
  }
  if (request.method == "server/discover") {
    throw InvalidParams("server/discover needs \"_meta\" with " + MetaKeys());
  }
  const bool needs_session = request.method != "initialize" && request.method != "ping";
  if (needs_session && !legacy_format_) {
    throw InvalidParams("either send \"initialize\" first, or put " + MetaKeys() +
                        " into the \"_meta\" of every request");
  }
  return {.format = legacy_format_.value_or(ResultFormat())};
}

const Dispatcher::Method& Dispatcher::FindMethod(const Request& request, const Context& context) {
  for (const Method& method : kMethods) {
    const bool available = context.era == Era::kModern ? method.modern : method.legacy;
    if (available && method.name == request.method) return method;
  }
  throw ProtocolError(ErrorCode::kMethodNotFound, "method not found: " + QuoteName(request.method));
}

void Dispatcher::Initialize(Request& request, const Context& /*context*/, Reply& reply) {
  if (legacy_format_) throw InvalidRequest("the session is initialized already");
  const std::string_view version = ParseInitialize(request.params);
  const std::string result = ObjectText([&](ObjectWriter& object) {
    object.Member("protocolVersion", version);
    object.Member("capabilities", json{{"tools", json::object()}});
    object.Member("serverInfo", Describe(options_.info));
    object.Member("instructions", std::string_view(options_.instructions()));
  });
  // Not earlier: what fails above may be tried again.
  legacy_format_ = options_.result_format(ClientName(request.params, Era::kLegacy));
  reply.Result(result);
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): one of a table of members
void Dispatcher::Ping(Request& /*request*/, const Context& /*context*/, Reply& reply) {
  reply.Result("{}");
}

void Dispatcher::Discover(Request& /*request*/, const Context& context, Reply& reply) {
  reply.Result(ObjectText([&](ObjectWriter& result) {
    BeginResult(result, context.era, options_.info);
    result.Member("supportedVersions", json(kVersions));
    result.Member("capabilities", json{{"tools", json::object()}});
    result.Member("instructions", std::string_view(options_.instructions()));
    AddCacheHints(result, 0);  // the instructions change with the mounts
  }));
}

void Dispatcher::ListTools(Request& request, const Context& context, Reply& reply) {
  CheckCursor(request.params);
  json tools = json::array();
  for (const auto& tool : tools_) {
    tools.push_back(Describe(tool->definition(), context.format.style));
  }
  reply.Result(ObjectText([&](ObjectWriter& result) {
    BeginResult(result, context.era, options_.info);
    result.Member("tools", tools);
    if (context.era == Era::kModern) AddCacheHints(result, kToolsTtlMilliseconds);
  }));
}

void Dispatcher::CallTool(Request& request, const Context& context, Reply& reply) {
  std::optional<std::string> token = ParseProgressToken(request.params);
  CallToolParams params = ParseCallTool(std::move(request.params));
  const auto tool = std::find_if(tools_.begin(), tools_.end(), [&params](const auto& candidate) {
    return candidate->definition().name == params.name;
  });
  ToolCalls::Invocation call = {.tool = tool == tools_.end() ? nullptr : tool->get(),
                                .name = std::move(params.name),
                                .arguments = std::move(params.arguments),
                                .era = context.era,
                                .format = context.format,
                                .progress_token = std::move(token),
                                .bytes = request.bytes};
  std::optional<Outcome> rejection;
  if (call.tool == nullptr) {
    rejection = InvalidParams("unknown tool " + QuoteName(call.name));
  } else {
    const json& schema = call.tool->definition().input_schema;
    DropAbsent(schema, call.arguments);
    if (const auto error = FindSchemaError(schema, call.arguments)) {
      rejection = ToolFailure{"validating \"arguments\": " + *error};
    }
  }
  if (rejection) {
    calls_.Reject(std::move(reply), std::move(call), *std::move(rejection));
  } else {
    calls_.Start(std::move(reply), std::move(call));
  }
}

/// Acknowledges the request and holds it open until it is cancelled. There are no notifications to
/// send: tools never change.
void Dispatcher::Listen(Request& request, const Context& /*context*/, Reply& reply) {
  CheckListen(request.params);
  listeners_.remove_if([](const Reply& listener) { return !listener.IsOpen(); });
  const std::string& id = reply.id();
  if (listeners_.size() >= kMaxListeners || id.size() > kMaxListenerIdBytes) {
    throw InvalidRequest("too many open subscriptions, or the id is too long");
  }
  const std::string meta = "{\"" + std::string(meta_key::kSubscriptionId) + "\":" + id + "}";
  reply.Notify(NotificationText("notifications/subscriptions/acknowledged",
                                "{\"_meta\":" + meta + ",\"notifications\":{}}"));
  listeners_.push_back(std::move(reply));
}

void Dispatcher::CloseListeners() {
  for (Reply& listener : listeners_) {
    const std::string meta = ObjectText([&](ObjectWriter& object) {
      object.Member(meta_key::kServerInfo, Describe(options_.info));
      object.RawMember(meta_key::kSubscriptionId, listener.id());
    });
    listener.Result(R"({"resultType":"complete","_meta":)" + meta + "}");
  }
  listeners_.clear();
}

}  // namespace mcp
