#include "mcp/outcome.h"

#include <string>
#include <utility>

#include "mcp/json_writer.h"
#include "mcp/reply.h"
#include "support/errors.h"
#include "support/log.h"

namespace mcp {
namespace {

/// For what stands around a result in its message.
constexpr std::size_t kEnvelopeBytes = 1024;
constexpr std::size_t kMaxResultBytes = kMaxMessageBytes - kEnvelopeBytes;

}  // namespace

Outcome OutcomeOf(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const ProtocolError& error) {
    return error;
  } catch (const support::Stopped& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) return Cancelled{};
    return ToolFailure{stopped.what()};
  } catch (const support::CallError& error) {
    return ToolFailure{error.what()};
  } catch (const std::exception& error) {
    support::LogError(std::string("internal error: ") + error.what());
    return ProtocolError(ErrorCode::kInternalError, std::string("internal error: ") + error.what());
  } catch (...) {
    support::LogError("internal error: unknown exception");
    return ProtocolError(ErrorCode::kInternalError, "internal error");
  }
}

Outcome CallTool(Tool& tool, const ToolCall& call) {
  try {
    call.context.ThrowIfStopped();
    return tool.Call(call);
  } catch (...) {
    return OutcomeOf(std::current_exception());
  }
}

std::string ToolResultText(const ToolResult& result, Era era, const ServerInfo& server,
                           bool is_error) {
  const auto* structured = std::get_if<StructuredContent>(&result.content);
  std::string text;
  // For both copies, the first of them escaped: copying a large string as it grows takes long.
  if (structured != nullptr) text.reserve(structured->json.size() / 2 * 5 + kEnvelopeBytes);
  ObjectWriter object(text);
  BeginResult(object, era, server);
  object.Key("content");
  text += R"([{"type":"text","text":)";
  AppendJsonString(
      text, structured != nullptr ? structured->json : std::get<PlainText>(result.content).text);
  text += '}';
  for (const nlohmann::json& block : result.more_content) {
    text += ',';
    AppendJson(text, block);
  }
  text += ']';
  if (structured != nullptr) object.RawMember("structuredContent", structured->json);
  if (is_error) object.Member("isError", nlohmann::json(true));
  object.End();
  return text;
}

EncodedOutcome Encode(Outcome outcome, Era era, const ServerInfo& server, std::string_view advice) {
  if (auto* result = std::get_if<ToolResult>(&outcome)) {
    std::string text = ToolResultText(*result, era, server);
    if (text.size() <= kMaxResultBytes) {
      return {.status = CallStatus::kSucceeded,
              .response = R"("result":)" + std::move(text),
              .exit_code = result->exit_code,
              .error = std::move(result->error)};
    }
    outcome = ToolFailure{"the result has " + std::to_string(text.size()) +
                          " bytes as a message, more than " + std::to_string(kMaxResultBytes) +
                          ": " + std::string(advice)};
  }
  if (auto* failure = std::get_if<ToolFailure>(&outcome)) {
    const ToolResult shown = {.content = PlainText{failure->text}};
    return {.status = CallStatus::kFailed,
            .response = R"("result":)" + ToolResultText(shown, era, server, true),
            .error = std::move(failure->text)};
  }
  const bool cancelled = std::holds_alternative<Cancelled>(outcome);
  const ProtocolError error = cancelled ? ProtocolError(ErrorCode::kInternalError, "cancelled")
                                        : std::get<ProtocolError>(outcome);
  return {.status = cancelled ? CallStatus::kCancelled : CallStatus::kFailed,
          .response = R"("error":)" + ErrorObject(error),
          .error = cancelled ? "" : error.what()};
}

}  // namespace mcp
