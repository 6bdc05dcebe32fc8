#include "mcp/outcome.h"

#include <utility>

#include "mcp/json_writer.h"
#include "support/errors.h"
#include "support/log.h"

namespace mcp {
namespace {

void AppendTextBlock(std::string& out, std::string_view text) {
  ObjectWriter block(out);
  block.Member("type", std::string_view("text"));
  block.Member("text", text);
  block.End();
}

}  // namespace

Outcome OutcomeOf(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const ProtocolError& error) {
    return error;
  } catch (const support::Stopped& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) return Withdrawn{};
    return ToolFailure{stopped.what()};
  } catch (const support::CallError& error) {
    return ToolFailure{error.what()};
  } catch (const std::exception& error) {
    support::LogError(std::string("internal error: ") + error.what());
    return ProtocolError(ErrorCode::kInternalError, std::string("internal error: ") + error.what());
  } catch (...) {
    support::LogError("internal error: an exception of unknown type");
    return ProtocolError(ErrorCode::kInternalError, "internal error");
  }
}

Outcome CallTool(Tool& tool, const ToolCall& call) {
  try {
    return tool.Call(call);
  } catch (...) {
    return OutcomeOf(std::current_exception());
  }
}

void AppendToolResult(std::string& out, ToolResult result, const Dialect& dialect,
                      const ServerInfo& server) {
  const std::string structured = ToJson(std::exchange(result.structured, nullptr));
  // Quotes and backslashes grow when the JSON is put into a string; 1/16 is a guess for text.
  constexpr std::size_t kSmallParts = 512;
  out.reserve(out.size() + structured.size() * 2 + structured.size() / 16 + kSmallParts);

  ObjectWriter object(out);
  dialect.BeginResult(object, server);
  object.Key("content");
  out += '[';
  AppendTextBlock(out, structured);
  for (const nlohmann::json& block : result.more_content) {
    out += ',';
    AppendJson(out, block);
  }
  out += ']';
  if (dialect.structured_output()) object.RawMember("structuredContent", structured);
  object.End();
}

void AppendToolFailure(std::string& out, const ToolFailure& failure, const Dialect& dialect,
                       const ServerInfo& server) {
  ObjectWriter object(out);
  dialect.BeginResult(object, server);
  object.Key("content");
  out += '[';
  AppendTextBlock(out, failure.text);
  out += ']';
  object.Member("isError", nlohmann::json(true));
  object.End();
}

}  // namespace mcp
