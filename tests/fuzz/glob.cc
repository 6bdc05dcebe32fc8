// SPDX-License-Identifier: Apache-2.0
// The glob parser and matcher: any pattern, any name.

#include "find/glob.h"

#include <string>
#include <string_view>

#include "fuzz/input.h"
#include "support/errors.h"
#include "support/utf8.h"

namespace {

/// A pattern that means nothing but `name`.
std::string Escaped(std::string_view name) {
  std::string pattern;
  for (const char character : name) {
    if (std::string_view("\\*?[]{},").find(character) != std::string_view::npos) pattern += '\\';
    pattern += character;
  }
  return pattern;
}

bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name != ".git" &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const bool case_sensitive = input.Flag();
  const std::string pattern(input.Until('\n'));
  const std::string name = support::ToUtf8(input.Rest());
  try {
    const auto alternatives = find::ParseGlob(pattern);
    fuzz::Require(!alternatives.empty(), "a pattern has an alternative");
    fuzz::Require(alternatives.size() <= find::kMaxGlobAlternatives, "and not too many");
    const find::GlobMatcher matcher(alternatives, case_sensitive);
    static_cast<void>(matcher.Matches(name, false));
    static_cast<void>(matcher.Matches(name, true, 1));
  } catch (const support::Error&) {
    // The pattern is invalid.
  }
  if (!IsPlainName(name) || name.size() > 200) return 0;
  const auto literal = find::ParseGlob(Escaped(name));
  const find::GlobMatcher matcher(literal, case_sensitive);
  fuzz::Require(matcher.Matches(name, false, 1), "a name matches itself");
  const auto all = find::ParseGlob("*");
  fuzz::Require(find::GlobMatcher(all, case_sensitive).Matches(name, false, 1), "a name matches *");
  return 0;
}
