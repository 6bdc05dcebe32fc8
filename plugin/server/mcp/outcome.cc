// SPDX-License-Identifier: Apache-2.0
#include "mcp/outcome.h"

#include <utility>

#include "mcp/json_writer.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"

namespace mcp {
namespace {

/// For what stands around a result in its message.
constexpr std::size_t kEnvelopeBytes = 1024;
constexpr std::size_t kMaxResultBytes = kMaxMessageBytes - kEnvelopeBytes;

Outcome Failure(std::string text, Era era, const Json& server) {
  const ToolResult shown = {.style = ResultStyle::kText, .content = text};
  return {.status = CallStatus::kFailed,
          .response = R"("result":)" + ToolResultText(shown, era, server, true),
          .error = std::move(text)};
}

Outcome Error(const ProtocolError& error) {
  return {.status = CallStatus::kFailed, .response = ErrorMember(error), .error = error.what()};
}

Outcome InternalError(const std::string& text) {
  support::LogError(text);
  return Error(ProtocolError(ErrorCode::kInternalError, text));
}

}  // namespace

Outcome OutcomeOf(const ToolResult& result, Era era, const Json& server, std::string_view advice) {
  std::string text = ToolResultText(result, era, server);
  if (text.size() > kMaxResultBytes) {
    return Failure(support::Format("the result has {} bytes as a message, more than {}: {}",
                                   text.size(), kMaxResultBytes, advice),
                   era, server);
  }
  return {.status = CallStatus::kSucceeded,
          .response = R"("result":)" + std::move(text),
          .exit_code = result.exit_code,
          .error = result.error};
}

Outcome OutcomeOf(const std::exception_ptr& exception, Era era, const Json& server) {
  try {
    std::rethrow_exception(exception);
  } catch (const ProtocolError& error) {
    return Error(error);
  } catch (const support::Stopped& stopped) {
    Outcome outcome = Failure(stopped.what(), era, server);
    if (stopped.reason() != support::StopReason::kCancelled) return outcome;
    return {.status = CallStatus::kCancelled, .response = std::move(outcome.response)};
  } catch (const support::Error& error) {
    return Failure(error.what(), era, server);
  } catch (const std::exception& error) {
    return InternalError(support::Format("internal error: {}", error.what()));
  } catch (...) {
    return InternalError("internal error");
  }
}

std::string ToolResultText(const ToolResult& result, Era era, const Json& server, bool is_error) {
  const bool is_structured = result.style == ResultStyle::kStructured;
  std::string text = ToJson(NewResult(era, server));
  text.pop_back();  // its "}"
  // For both copies, the first of them escaped: copying a large string as it grows takes long.
  if (is_structured) text.reserve(result.content.size() / 2 * 5 + kEnvelopeBytes);
  text += text.size() > 1 ? R"(,"content":[{"type":"text","text":)"
                          : R"("content":[{"type":"text","text":)";
  AppendJsonString(text, result.content);
  text += '}';
  for (const Json& block : result.more_content) text += ',' + ToJson(block);
  text += ']';
  if (is_structured) text += R"(,"structuredContent":)" + result.content;
  return text += is_error ? R"(,"isError":true})" : "}";
}

}  // namespace mcp
