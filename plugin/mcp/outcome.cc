#include "mcp/outcome.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mcp/json_writer.h"
#include "mcp/reply.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/utf8.h"

namespace mcp {
namespace {

/// A piece of JSON text.
struct Part {
  std::shared_ptr<const std::string> text;
  bool in_string = false;  ///< not JSON but the content of a string: valid UTF-8, not escaped yet
};

/// Strings from this size on are escaped as they are written.
constexpr std::size_t kLargeString = std::size_t{16} * 1024;

Part TextPart(std::string text) {
  if (!support::IsValidUtf8(text)) text = support::ToUtf8(text);
  return {std::make_shared<const std::string>(std::move(text)), true};
}

/// The structured content as JSON, with its large strings as parts of their own.
std::vector<Part> Split(ToolResult& result) {
  std::vector<Part> parts;
  const auto add = [&](std::string text) {
    parts.push_back({std::make_shared<const std::string>(std::move(text))});
  };
  if (!result.structured_text.empty()) {
    add(std::move(result.structured_text));
    return parts;
  }
  nlohmann::json value = std::exchange(result.structured, nullptr);
  if (!value.is_object()) {
    add(ToJson(value));
    return parts;
  }
  std::string text;
  ObjectWriter object(text);
  for (const auto& [key, member] : value.items()) {
    auto* string = member.get_ptr<std::string*>();
    if (string == nullptr || string->size() < kLargeString) {
      object.Member(key, member);
      continue;
    }
    object.Key(key);
    text += '"';
    add(std::exchange(text, {}));
    parts.push_back(TextPart(std::move(*string)));
    text += '"';
  }
  object.End();
  add(std::move(text));
  return parts;
}

/// For what stands around a result in its message.
constexpr std::size_t kEnvelopeBytes = 1024;
constexpr std::size_t kLongestResult = kLongestMessage - kEnvelopeBytes;

std::optional<ToolFailure> TooLarge(const Line& result, std::string_view advice) {
  // Counting takes time: most results cannot be too large.
  if (result.bytes() <= kLongestResult / kLongestEscape) return std::nullopt;
  const std::size_t bytes = result.escaped_bytes();
  if (bytes <= kLongestResult) return std::nullopt;
  return ToolFailure{"the result has " + std::to_string(bytes) + " bytes as a message, more than " +
                     std::to_string(kLongestResult) + ": " + std::string(advice)};
}

std::string FailureText(const ToolFailure& failure, Era era, const ServerInfo& server) {
  return ObjectText([&](ObjectWriter& object) {
    BeginResult(object, era, server);
    object.RawMember("content", R"([{"type":"text","text":)" + ToJson(failure.text) + "}]");
    object.Member("isError", nlohmann::json(true));
  });
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

Line ToolResultText(ToolResult result, Era era, const ServerInfo& server) {
  const bool is_plain = result.text.has_value();
  const std::vector<Part> shown =
      is_plain ? std::vector<Part>{TextPart(*std::move(result.text))} : Split(result);

  std::string text;
  ObjectWriter object(text);
  BeginResult(object, era, server);
  object.Key("content");
  text += R"([{"type":"text","text":")";
  Line line(std::exchange(text, {}));
  for (const Part& part : shown) {
    line.Append(part.text, part.in_string && !is_plain ? Escaping::kTwice : Escaping::kOnce);
  }
  text += "\"}";
  for (const nlohmann::json& block : result.more_content) {
    text += ',';
    AppendJson(text, block);
  }
  text += ']';
  if (!is_plain) {
    object.Key("structuredContent");
    line.Append(std::exchange(text, {}));
    for (const Part& part : shown) {
      line.Append(part.text, part.in_string ? Escaping::kOnce : Escaping::kNone);
    }
  }
  object.End();
  line.Append(std::move(text));
  return line;
}

EncodedOutcome Encode(Outcome outcome, Era era, const ServerInfo& server, std::string_view advice) {
  if (auto* result = std::get_if<ToolResult>(&outcome)) {
    EncodedOutcome encoded{.status = CallStatus::kSucceeded,
                           .response = R"("result":)",
                           .exit_code = result->exit_code,
                           .error = std::exchange(result->error, {})};
    Line text = ToolResultText(std::move(*result), era, server);
    if (auto failure = TooLarge(text, advice)) return Encode(*std::move(failure), era, server);
    encoded.response.Append(std::move(text));
    return encoded;
  }
  if (const auto* failure = std::get_if<ToolFailure>(&outcome)) {
    return {.status = CallStatus::kFailed,
            .response = R"("result":)" + FailureText(*failure, era, server),
            .error = failure->text};
  }
  const bool cancelled = std::holds_alternative<Cancelled>(outcome);
  const ProtocolError error = cancelled ? ProtocolError(ErrorCode::kInternalError, "cancelled")
                                        : std::get<ProtocolError>(outcome);
  return {.status = cancelled ? CallStatus::kCancelled : CallStatus::kFailed,
          .response = R"("error":)" + ErrorObject(error),
          .error = cancelled ? "" : error.what()};
}

}  // namespace mcp
