// SPDX-License-Identifier: Apache-2.0
#include "support/regex.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <stdexcept>

namespace support {
namespace {

using re2::RE2;

/// RE2's string view: std::string_view or another class, after its release and the system.
re2::StringPiece ToRe2(std::string_view text) {
  return {text.data(), text.size()};
}

RE2::Options OptionsOf(Regex::Encoding encoding) {
  RE2::Options options(encoding == Regex::kLatin1 ? RE2::Latin1 : RE2::DefaultOptions);
  options.set_log_errors(false);
  return options;
}

RE2::Options OptionsOf(Regex::Encoding encoding, std::int64_t max_memory) {
  RE2::Options options = OptionsOf(encoding);
  options.set_max_mem(max_memory);
  return options;
}

}  // namespace

struct Regex::Compiled {
  RE2 expression;
};

Regex::Regex(std::string_view pattern, Encoding encoding, std::int64_t max_memory)
    : compiled_(new Compiled{RE2(ToRe2(pattern), OptionsOf(encoding, max_memory))}) {
  if (!compiled_->expression.ok()) throw std::invalid_argument(compiled_->expression.error());
}

bool Regex::Search(Anchor anchor, std::string_view text, std::span<std::string_view> found) const {
  constexpr std::array kAnchors = {RE2::UNANCHORED, RE2::ANCHOR_START, RE2::ANCHOR_BOTH};
  std::array<re2::StringPiece, 1 + kMaxCaptures> groups;
  const RE2::Anchor re2_anchor = kAnchors.at(static_cast<std::size_t>(anchor));
  if (!compiled_->expression.Match(ToRe2(text), 0, text.size(), re2_anchor, groups.data(),
                                   static_cast<int>(found.size()))) {
    return false;
  }
  std::transform(
      groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(found.size()), found.begin(),
      [](const re2::StringPiece& group) { return std::string_view(group.data(), group.size()); });
  return true;
}

std::string_view Regex::Find(std::string_view text) const {
  std::string_view match = text.substr(text.size());
  Search(Anchor::kNone, text, {&match, 1});
  return match;
}

bool Regex::Replace(std::string& text, std::string_view replacement) const {
  return RE2::Replace(&text, compiled_->expression, ToRe2(replacement));
}

void Regex::ReplaceAll(std::string& text, std::string_view replacement) const {
  RE2::GlobalReplace(&text, compiled_->expression, ToRe2(replacement));
}

std::string Regex::Quote(std::string_view text) {
  return RE2::QuoteMeta(ToRe2(text));
}

struct RegexSet::Compiled {
  RE2::Set expressions;
};

RegexSet::RegexSet(std::span<const std::string> patterns, Regex::Encoding encoding,
                   bool case_sensitive) {
  RE2::Options options = OptionsOf(encoding);
  options.set_dot_nl(true);
  options.set_case_sensitive(case_sensitive);
  RE2::Set expressions(options, RE2::ANCHOR_BOTH);
  std::string error;
  for (const std::string& pattern : patterns) {
    if (expressions.Add(ToRe2(pattern), &error) < 0) throw std::invalid_argument(error);
  }
  if (!expressions.Compile()) throw std::invalid_argument("the patterns need too much memory");
  compiled_ = std::make_shared<Compiled>(Compiled{std::move(expressions)});
}

std::optional<std::vector<int>> RegexSet::FullMatches(std::string_view text) const {
  std::vector<int> matching;
  RE2::Set::ErrorInfo error = {};
  if (!compiled_->expressions.Match(ToRe2(text), &matching, &error) &&
      error.kind != RE2::Set::kNoError) {
    return std::nullopt;
  }
  return matching;
}

}  // namespace support
