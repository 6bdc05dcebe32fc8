#include "mcp/outcome.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mcp/json_writer.h"
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

ToolFailure TooLarge(std::size_t bytes, const ResultLimit& limit) {
  return {"the result has " + std::to_string(bytes) + " bytes as a message, more than the " +
          std::to_string(limit.bytes) + " that --max-result allows: " + std::string(limit.advice)};
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

Line ToolResultText(ToolResult result, Era era, const ServerInfo& server,
                    const ResultLimit& limit) {
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
  // Counting takes time: most results cannot be too large.
  const bool may_be_too_large = line.bytes() > limit.bytes / kLongestEscape;
  const std::size_t bytes = may_be_too_large ? line.escaped_bytes() : 0;
  if (bytes > limit.bytes) return ToolFailureText(TooLarge(bytes, limit), era, server);
  return line;
}

std::string ToolFailureText(const ToolFailure& failure, Era era, const ServerInfo& server) {
  return ObjectText([&](ObjectWriter& object) {
    BeginResult(object, era, server);
    object.RawMember("content", R"([{"type":"text","text":)" + ToJson(failure.text) + "}]");
    object.Member("isError", nlohmann::json(true));
  });
}

}  // namespace mcp
