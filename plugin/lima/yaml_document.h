#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The first document of a YAML file, read as strictly as Lima does (goccy/go-yaml, checked by
/// go.yaml.in/yaml): two readers that understand a file differently must not decide what an agent
/// may write.
///
/// Refuses text that is not UTF-8 or starts with a byte order mark, duplicate keys, keys that are
/// not scalars, an alias inside the node that it names, `<<` with anything but one mapping, and a
/// key that is set both next to and through a `<<`.
namespace lima::yaml {

/// Nested collections, including those that aliases stand for; Lima's own files have at most six.
/// Bounds all recursion, including that of destruction and of `<<` through `<<`.
inline constexpr int kMaximumDepth = 100;

/// Documents of one file. yaml-cpp never gets past a stray comma: it finds one empty document after
/// another.
inline constexpr int kMaximumDocuments = 100;

struct Node;
/// Shared, because an alias is the node that it names: aliases that double cost nothing.
using NodePointer = std::shared_ptr<const Node>;

enum class Kind { kNull, kScalar, kSequence, kMapping };

struct Entry {
  std::string key;
  bool is_merge = false;  ///< a plain `<<`
  NodePointer value;
};

struct Node {
  Kind kind = Kind::kNull;
  std::string tag;                 ///< as written and resolved; may be empty
  bool plain = false;              ///< a scalar without quotes, not a block
  std::string text;                ///< of a scalar
  std::vector<NodePointer> items;  ///< of a sequence
  std::vector<Entry> entries;      ///< of a mapping, in their order
  int line = 0;                    ///< from 1
  int depth = 0;                   ///< nested collections, aliases followed
};

/// Throws ConfigurationError that starts with `file`. An empty text is a null node.
NodePointer Parse(std::string_view text, const std::string& file);

/// The values of a mapping, with its merges applied.
class Mapping {
 public:
  /// A null node is an empty mapping. `what` ("mounts[2]") and `file` are for errors. Throws
  /// ConfigurationError when the node is something else.
  Mapping(const NodePointer& node, std::string file, std::string what);

  // Each returns nothing when the key is missing or its value is null, and throws
  // ConfigurationError for a value of another type.
  [[nodiscard]] std::optional<bool> Boolean(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> String(std::string_view key) const;
  /// In plain decimal digits, from 0 to `maximum`.
  [[nodiscard]] std::optional<unsigned long> Number(std::string_view key,
                                                    unsigned long maximum) const;
  [[nodiscard]] std::vector<NodePointer> Sequence(std::string_view key) const;
  [[nodiscard]] Mapping Child(std::string_view key) const;

  using Entries = std::map<std::string, NodePointer, std::less<>>;
  [[nodiscard]] const Entries& entries() const { return entries_; }

  /// "FILE: mounts[2].location (line 14)".
  [[nodiscard]] std::string Where(std::string_view key) const;

 private:
  void Add(const Node& node);
  /// Null when the key is missing or its value is null.
  [[nodiscard]] NodePointer Find(std::string_view key) const;
  [[nodiscard]] std::string NameOf(std::string_view key) const;

  std::string file_;
  std::string what_;
  Entries entries_;
};

/// Whether Lima reads this scalar as a number or a truth value and prints it differently (1.50,
/// 0x10, 007, True).
bool IsRewrittenByLima(const Node& node);

}  // namespace lima::yaml
