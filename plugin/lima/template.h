#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lima {

/// Returns the value of a field, named without the leading dot: "Home", "Param.key". Throws
/// ConfigurationError if there is no such field.
using FieldLookup = std::function<std::string(std::string_view name)>;

/// Evaluates the part of Go's text/template that paths use: fields such as {{.Name}},
/// {{ .Param.key }} and {{$.Name}}, comments {{/* … */}}, and the trim markers {{- and -}}. Throws
/// ConfigurationError for everything else, because Lima might evaluate it to another directory.
/// Follows Go's text/template/parse/lex.go.
std::string EvaluateTemplate(std::string_view text, const FieldLookup& lookup);

}  // namespace lima
