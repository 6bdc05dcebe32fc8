#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace lima {

/// Bytes of a result: every template that matters here is a path, and this is Linux's PATH_MAX.
inline constexpr std::size_t kMaximumTemplateResult = 4096;

/// Returns the value of a field, named without the leading dot: "Home", "Param.key". Throws
/// ConfigurationError if there is no such field.
using FieldLookup = std::function<std::string(std::string_view name)>;

/// Evaluates the part of Go's text/template that paths use: fields such as {{.Name}},
/// {{ .Param.key }} and {{$.Name}}, comments {{/* … */}}, and the trim markers {{- and -}}. Throws
/// ConfigurationError for all else: a path that Lima evaluates differently would be another
/// directory. Follows Go's text/template/parse/lex.go.
std::string EvaluateTemplate(std::string_view text, const FieldLookup& lookup);

}  // namespace lima
