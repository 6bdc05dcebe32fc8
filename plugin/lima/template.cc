#include "lima/template.h"

#include <algorithm>
#include <iterator>
#include <regex>

#include "lima/configuration_error.h"

namespace lima {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

/// In bytes. std::regex recurses, so a long action would exhaust the stack.
constexpr std::size_t kMaximumAction = 256;

std::string_view TrimLeft(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kSpaces), text.size()));
}

std::string_view TrimRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

/// An action: the trim marker before, the name of a field, the trim marker after. A trim marker is
/// a minus sign with a space on its inner side. A comment has no name.
const std::regex& ActionPattern() {
  static const std::regex pattern(
      R"(\{\{(-[ \t\r\n])?(?:/\*(?:(?!\*/)[^])*\*/|)"
      R"([ \t\r\n]*\$?\.([A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*)[ \t\r\n]*))"
      R"(([ \t\r\n]-)?\}\})");
  return pattern;
}

void Append(std::string& result, std::string_view text) {
  result += text;
  if (result.size() > kMaximumTemplateResult) {
    throw ConfigurationError("it is longer than " + std::to_string(kMaximumTemplateResult) +
                             " bytes");
  }
}

}  // namespace

std::string EvaluateTemplate(std::string_view text, const FieldLookup& lookup) {
  std::string result;
  bool trims_start = false;
  while (true) {
    const std::size_t open = text.find("{{");
    std::string_view literal = text.substr(0, open);
    if (trims_start) literal = TrimLeft(literal);
    if (open == std::string_view::npos) {
      Append(result, literal);
      return result;
    }
    text.remove_prefix(open);
    const std::size_t close = text.find("}}");
    if (close == std::string_view::npos)
      throw ConfigurationError("a template action {{ is not closed");
    const std::string_view whole = text.substr(0, close + 2);
    std::cmatch action;
    if (whole.size() > kMaximumAction ||
        !std::regex_match(whole.data(), whole.data() + whole.size(), action, ActionPattern())) {
      throw ConfigurationError("the template action " + std::string(whole) +
                               " is not supported; use fields such as {{.Home}}");
    }
    Append(result, action[1].matched ? TrimRight(literal) : literal);
    if (action[2].matched) Append(result, lookup(action[2].str()));
    trims_start = action[3].matched;
    text.remove_prefix(whole.size());
  }
}

}  // namespace lima
