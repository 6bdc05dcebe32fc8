#include "lima/template.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "lima/configuration_error.h"

namespace lima {
namespace {

std::string Evaluate(std::string_view text) {
  return EvaluateTemplate(text, [](std::string_view name) -> std::string {
    if (name == "Home") return "/home/u";
    if (name == "Param.key_1") return "value";
    throw ConfigurationError("no such field: " + std::string(name));
  });
}

struct Case {
  const char* text;
  const char* result;
};
std::ostream& operator<<(std::ostream& stream, const Case& c) {
  return stream << c.text;
}

class TemplateCases : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Table, TemplateCases,
    testing::Values(
        Case{"", ""}, Case{"/plain/path", "/plain/path"}, Case{"{{.Home}}/x", "/home/u/x"},
        Case{"{{ .Home }}", "/home/u"}, Case{"{{\t.Home\n}}", "/home/u"},
        Case{"{{$.Home}}", "/home/u"}, Case{"/a/{{.Param.key_1}}/{{.Home}}", "/a/value//home/u"},
        Case{"/a  {{- .Home}}", "/a/home/u"}, Case{"{{.Home -}}  /b", "/home/u/b"},
        Case{" {{- .Home -}} /b", "/home/u/b"}, Case{"{{.Home -}} {{- .Home}}", "/home/u/home/u"},
        Case{"/a{{/* a comment */}}b", "/ab"}, Case{"/a {{- /* a comment */ -}} b", "/ab"},
        Case{"/a/{{.Home}}}", "/a//home/u}"}, Case{"/a}}/{b", "/a}}/{b"}));

TEST_P(TemplateCases, GivesWhatGoWouldGive) {
  EXPECT_EQ(Evaluate(GetParam().text), GetParam().result);
}

class RefusedTemplates : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Table, RefusedTemplates,
                         testing::Values("{{.Home", "{{", "{{}}", "{{.}}", "{{$}}", "{{- -}}",
                                         "{{-.Home}}", "{{-x.Home}}", "{{.Homex-}}", "{{.Home-}}",
                                         "{{Home}}", "{{(.Home)}}", "{{.Home | printf \"%s\"}}",
                                         "{{\"text\"}}", "{{if .Home}}a{{end}}", "{{.Home.}}",
                                         "{{..Home}}", "{{.Param.a-b}}", "{{.1}}", "{{.Ho me}}",
                                         "{{.Nope}}", "{{.Param.missing}}",
                                         "{{ /* late comment */}}", "{{/* open }}", "{{{.Home}}"));

TEST_P(RefusedTemplates, AreErrors) {
  EXPECT_THROW(Evaluate(GetParam()), ConfigurationError);
}

TEST(Template, GivesAtMostAPath) {
  const auto evaluate = [](std::size_t length) {
    return EvaluateTemplate("{{.X}}", [&](std::string_view) { return std::string(length, 'x'); });
  };
  EXPECT_EQ(evaluate(kMaximumTemplateResult).size(), kMaximumTemplateResult);
  EXPECT_THROW(evaluate(kMaximumTemplateResult + 1), ConfigurationError);
}

}  // namespace
}  // namespace lima
