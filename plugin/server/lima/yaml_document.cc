// SPDX-License-Identifier: Apache-2.0
#include "lima/yaml_document.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"
#include "support/format.h"
#include "support/regex.h"
#include "support/utf8.h"

namespace lima::yaml {
namespace {

// Tags of yaml-cpp for scalars without one.
constexpr std::string_view kPlain = "?";
constexpr std::string_view kQuoted = "!";

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

YAML::Node Parse(std::string_view text, const std::string& file) {
  if (!support::IsValidUtf8(text) || text.find('\0') != std::string_view::npos ||
      text.starts_with("\xEF\xBB\xBF"))
    throw support::Error("{}: save it as UTF-8, without NUL bytes or a byte order mark", file);
  try {
    return YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    const std::string line =
        error.mark.is_null() ? "" : support::Format("line {}: ", error.mark.line + 1);
    throw support::Error("{}: {}not valid YAML: {}", file, line, error.msg);
  }
}

std::string AtLine(const YAML::Node& node) {
  return support::Format(" (line {})", node.Mark().line + 1);
}

bool IsRewrittenByLima(const YAML::Node& node) {
  static const support::Regex same("true|false|0|-?[1-9][0-9]*");
  static const support::Regex rewritten(
      R"(True|TRUE|False|FALSE|[-+]?(?:\.(?:inf|Inf|INF|nan|NaN|NAN)|)"
      R"(\d[\da-fA-FxXoO_+-]*\.?[\da-fA-FxXoO_+-]*|\.[\da-fA-FxXoO_+-]*))");
  return node.IsScalar() && node.Tag() != kQuoted && !same.FullMatch(node.Scalar()) &&
         rewritten.FullMatch(node.Scalar());
}

Mapping::Mapping(const YAML::Node& node, std::string file, std::string what)
    : file_(std::move(file)), what_(std::move(what)) {
  if (node.IsNull()) return;
  if (!node.IsMap()) Fail(node, "expected a mapping (key: value)");
  for (const auto& entry : node) {
    const YAML::Node& key = entry.first;
    if (!key.IsScalar() && !key.IsNull()) Fail(key, "a key of a mapping must be a plain word");
    const std::string name = key.IsNull() ? "null" : key.Scalar();
    if (name == "<<" && key.Tag() == kPlain) {
      Fail(key, "\"<<\" is not supported; write out the entries that it stands for");
    }
    if (!entries_.emplace(name, entry.second).second) {
      throw support::Error("{}: the key is set twice", Where(name));
    }
  }
}

void Mapping::Fail(const YAML::Node& node, const std::string& text) const {
  throw support::Error("{}: {}{}: {}", file_, what_.empty() ? "the file" : what_, AtLine(node),
                       text);
}

YAML::Node Mapping::Find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? YAML::Node() : found->second;
}

std::string Mapping::NameOf(std::string_view key) const {
  return what_.empty() ? std::string(key) : what_ + "." + std::string(key);
}

std::string Mapping::Where(std::string_view key) const {
  const auto found = entries_.find(key);
  return support::Format("{}: {}{}", file_, NameOf(key),
                         found == entries_.end() ? "" : AtLine(found->second));
}

std::optional<bool> Mapping::Boolean(std::string_view key) const {
  const YAML::Node node = Find(key);
  if (node.IsNull()) return std::nullopt;
  if (node.IsScalar() && node.Tag() == kPlain) {
    if (IsOneOf(node.Scalar(), {"true", "True", "TRUE"})) return true;
    if (IsOneOf(node.Scalar(), {"false", "False", "FALSE"})) return false;
  }
  throw support::Error("{}: expected true or false, without quotes", Where(key));
}

std::optional<std::string> Mapping::String(std::string_view key) const {
  const YAML::Node node = Find(key);
  if (node.IsNull()) return std::nullopt;
  if (!node.IsScalar()) throw support::Error("{}: expected a text", Where(key));
  if (!IsOneOf(node.Tag(), {kPlain, kQuoted, "tag:yaml.org,2002:str"})) {
    throw support::Error("{}: the tag {} is not supported", Where(key), node.Tag());
  }
  return node.Scalar();
}

std::vector<YAML::Node> Mapping::Sequence(std::string_view key) const {
  const YAML::Node node = Find(key);
  if (node.IsNull()) return {};
  if (!node.IsSequence()) throw support::Error("{}: expected a list", Where(key));
  return {node.begin(), node.end()};
}

Mapping Mapping::Child(std::string_view key) const {
  return {Find(key), file_, NameOf(key)};
}

}  // namespace lima::yaml
