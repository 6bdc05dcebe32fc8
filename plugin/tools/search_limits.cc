#include "tools/search_limits.h"

#include "support/errors.h"

namespace tools {

std::optional<std::string> OptionalText(const nlohmann::json& arguments, const char* property) {
  const auto found = arguments.find(property);
  if (found == arguments.end() || found->is_null()) return std::nullopt;
  return found->get<std::string>();
}

mcp::ToolResult WithTimeLimit(
    const std::string& what, std::chrono::seconds limit, const support::Context& context,
    const std::function<mcp::ToolResult(const support::Context& context)>& work) {
  try {
    return work(context.WithTimeout(limit));
  } catch (const support::Stopped& stopped) {
    const bool limit_passed = stopped.reason() == support::StopReason::kDeadline &&
                              context.stop_reason() == support::StopReason::kNone;
    if (!limit_passed) throw;
    throw support::CallError(what + " took longer than " + std::to_string(limit.count()) +
                             " s and was ended. Give a path deeper in the tree or a more specific "
                             "pattern.");
  }
}

std::string GapsNote(const find::ListingGaps& gaps, const paths::PathRules& paths) {
  if (gaps.count == 0) return "";
  std::string note = "The guest's user was not permitted to look at " + std::to_string(gaps.count) +
                     (gaps.count == 1 ? " name" : " names") + ", so what is there is missing here:";
  for (const std::string& path : gaps.examples) note += "\n" + paths.ToHost(path);
  if (gaps.count > gaps.examples.size()) note += "\n…";
  return note;
}

}  // namespace tools
