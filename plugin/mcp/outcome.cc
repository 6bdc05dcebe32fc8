#include "mcp/outcome.h"

#include <string>

#include "mcp/json_writer.h"
#include "support/errors.h"
#include "support/log.h"

namespace mcp {
namespace {

ToolFailure TooLarge(std::size_t bytes, const ResultLimit& limit) {
  return {"the result has " + std::to_string(bytes) + " bytes as a message, more than the " +
          std::to_string(limit.bytes) + " that clients accept: " + std::string(limit.advice)};
}

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
                           const ResultLimit& limit) {
  const auto* structured = std::get_if<StructuredContent>(&result.content);
  std::string text;
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
  object.End();
  if (text.size() > limit.bytes) return ToolFailureText(TooLarge(text.size(), limit), era, server);
  return text;
}

std::string ToolFailureText(const ToolFailure& failure, Era era, const ServerInfo& server) {
  return ObjectText([&](ObjectWriter& object) {
    BeginResult(object, era, server);
    object.RawMember("content", R"([{"type":"text","text":)" + ToJson(failure.text) + "}]");
    object.Member("isError", nlohmann::json(true));
  });
}

}  // namespace mcp
