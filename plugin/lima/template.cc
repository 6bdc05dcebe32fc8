#include "lima/template.h"

#include <algorithm>

#include "lima/configuration_error.h"

namespace lima {
namespace {

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kSpaces = " \t\r\n";

bool IsSpace(char c) {
  return kSpaces.find(c) != std::string_view::npos;
}

bool IsOfName(char c, bool at_start) {
  const bool is_digit = c >= '0' && c <= '9';
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (is_digit && !at_start);
}

std::string_view TrimLeft(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kSpaces), text.size()));
}

std::string_view TrimRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

struct Action {
  std::string_view body;
  bool trims_before = false;  // the spaces of the text before it
  bool trims_after = false;
};

/// `inside` is the text between the braces. A trim marker is a minus sign with a space on its inner
/// side.
Action ParseAction(std::string_view inside) {
  Action action;
  if (inside.size() >= 2 && inside.front() == '-' && IsSpace(inside[1])) {
    action.trims_before = true;
    inside.remove_prefix(2);
  }
  if (inside.size() >= 2 && inside.back() == '-' && IsSpace(inside[inside.size() - 2])) {
    action.trims_after = true;
    inside.remove_suffix(2);
  }
  action.body = inside;
  return action;
}

bool IsComment(std::string_view body) {
  return body.size() >= 4 && body.starts_with("/*") && body.find("*/") == body.size() - 2;
}

/// "Home" of ".Home", "Param.key" of "$.Param.key"; empty for anything else.
std::string_view FieldName(std::string_view body) {
  body = TrimLeft(TrimRight(body));
  if (body.starts_with('$')) body.remove_prefix(1);
  if (!body.starts_with('.')) return {};
  body.remove_prefix(1);
  bool at_start = true;
  for (const char c : body) {
    const bool is_dot = c == '.' && !at_start;
    if (!is_dot && !IsOfName(c, at_start)) return {};
    at_start = is_dot;
  }
  return at_start ? std::string_view() : body;
}

void Append(std::string& result, std::string_view text) {
  if (result.size() + text.size() > kMaximumTemplateResult) {
    throw ConfigurationError("it becomes longer than " + std::to_string(kMaximumTemplateResult) +
                             " bytes");
  }
  result += text;
}

std::string Evaluate(std::string_view body, const FieldLookup& lookup) {
  if (IsComment(body)) return "";
  const std::string_view name = FieldName(body);
  if (name.empty()) {
    throw ConfigurationError("the template action {{" + std::string(body) +
                             "}} is not supported; use fields such as {{.Home}}");
  }
  return lookup(name);
}

}  // namespace

std::string EvaluateTemplate(std::string_view text, const FieldLookup& lookup) {
  std::string result;
  bool trims_start = false;
  while (true) {
    const std::size_t open = text.find(kOpen);
    std::string_view literal = text.substr(0, open);
    if (trims_start) literal = TrimLeft(literal);
    if (open == std::string_view::npos) {
      Append(result, literal);
      return result;
    }
    text.remove_prefix(open + kOpen.size());
    const std::size_t close = text.find(kClose);
    if (close == std::string_view::npos) {
      throw ConfigurationError("a template action {{ has no end");
    }
    const Action action = ParseAction(text.substr(0, close));
    text.remove_prefix(close + kClose.size());
    Append(result, action.trims_before ? TrimRight(literal) : literal);
    Append(result, Evaluate(action.body, lookup));
    trims_start = action.trims_after;
  }
}

}  // namespace lima
