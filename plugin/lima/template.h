#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace lima {

/// Bytes of what a template gives. Each template of lima.yaml that matters here is a path, and this
/// is Linux's PATH_MAX.
inline constexpr std::size_t kMaximumTemplateResult = 4096;

/// Gives the value of a field by its name without the leading dot: "Home", "Param.key". Throws
/// ConfigurationError when there is no such field.
using FieldLookup = std::function<std::string(std::string_view name)>;

/// Evaluates the part of Go's text/template that paths are written in: fields such as {{.Name}},
/// {{ .Param.key }} and {{$.Name}}, comments {{/* … */}}, and the trim markers {{- and -}}.
/// Everything else (functions, pipes, conditions, quoted texts) throws ConfigurationError that
/// quotes the action: a path that is understood differently from Lima would open another directory.
/// Rule: Go's text/template and text/template/parse/lex.go.
std::string EvaluateTemplate(std::string_view text, const FieldLookup& lookup);

}  // namespace lima
