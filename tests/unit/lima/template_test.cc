#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lima/mounts.h"
#include "lima/text_file.h"

namespace lima {
namespace {

std::string Filled(std::string_view text) {
  return EvaluateTemplate(text, [](std::string_view name) -> std::string {
    if (name == "Home") return "/home/u";
    if (name == "Param.key_1") return "value";
    throw ConfigurationError("no such field: " + std::string(name));
  });
}

TEST(Template, GivesWhatGoWouldGive) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", ""},
      {"/plain/path", "/plain/path"},
      {"{{.Home}}/x", "/home/u/x"},
      {"{{ .Home }}", "/home/u"},
      {"{{\t.Home\n}}", "/home/u"},
      {"{{$.Home}}", "/home/u"},
      {"/a/{{.Param.key_1}}/{{.Home}}", "/a/value//home/u"},
      {"/a/{{.Home}}}", "/a//home/u}"},
      {"/a}}/{b", "/a}}/{b"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(Filled(text), result) << text;
  const std::string spaces(100'000, ' ');
  EXPECT_EQ(Filled("{{" + spaces + ".Home}}" + spaces), "/home/u" + spaces);
}

TEST(Template, RefusesAllElse) {
  for (const char* text : {"{{.Home",
                           "{{",
                           "{{}}",
                           "{{.}}",
                           "{{$}}",
                           "{{- -}}",
                           "{{- .Home}}",
                           "{{.Home -}}",
                           "{{/* comment */}}",
                           "{{-.Home}}",
                           "{{-x.Home}}",
                           "{{.Homex-}}",
                           "{{.Home-}}",
                           "{{Home}}",
                           "{{(.Home)}}",
                           "{{.Home | printf \"%s\"}}",
                           "{{\"text\"}}",
                           "{{if .Home}}a{{end}}",
                           "{{.Home.}}",
                           "{{..Home}}",
                           "{{.Param.a-b}}",
                           "{{.1}}",
                           "{{.Ho me}}",
                           "{{.Nope}}",
                           "{{.Param.missing}}",
                           "{{ /* late comment */}}",
                           "{{/* open }}",
                           "{{{.Home}}",
                           "{{\f.Home}}"}) {
    EXPECT_THROW(Filled(text), ConfigurationError) << text;
  }
}

}  // namespace
}  // namespace lima
