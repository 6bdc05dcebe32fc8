#include "lima/template.h"

#include <re2/re2.h>

#include <algorithm>

#include "lima/configuration_error.h"

namespace lima {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view TrimLeft(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kSpaces), text.size()));
}

std::string_view TrimRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

/// An action: the trim marker before, the name of a field, the trim marker after. A trim marker is
/// a minus sign with a space on its inner side. A comment has no name.
constexpr const char* kAction =
    R"(\{\{(-[ \t\r\n])?(?:/\*(?:[^*]|\*+[^*/])*\*+/|)"
    R"([ \t\r\n]*\$?\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)[ \t\r\n]*)([ \t\r\n]-)?\}\})";

}  // namespace

std::string EvaluateTemplate(std::string_view text, const FieldLookup& lookup) {
  static const re2::RE2 action(kAction, re2::RE2::Latin1);
  std::string result;
  bool trims_start = false;
  while (true) {
    const std::size_t open = text.find("{{");
    std::string_view literal = text.substr(0, open);
    if (trims_start) literal = TrimLeft(literal);
    if (open == std::string_view::npos) {
      return result.append(literal);
    }
    text.remove_prefix(open);
    const std::size_t close = text.find("}}");
    if (close == std::string_view::npos)
      throw ConfigurationError("a template action {{ is not closed");
    const std::string_view whole = text.substr(0, close + 2);
    std::string trim_before;
    std::string name;
    std::string trim_after;
    if (!re2::RE2::FullMatch(whole, action, &trim_before, &name, &trim_after)) {
      throw ConfigurationError("the template action " + std::string(whole) +
                               " is not supported; use fields such as {{.Home}}");
    }
    result += trim_before.empty() ? literal : TrimRight(literal);
    if (!name.empty()) result += lookup(name);
    trims_start = !trim_after.empty();
    text.remove_prefix(whole.size());
  }
}

}  // namespace lima
