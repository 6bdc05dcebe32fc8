#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The first document of a YAML file as Lima's reader (goccy/go-yaml, checked by go.yaml.in/yaml)
/// understands it, and not a bit more lenient: what that reader refuses would never have become an
/// instance, and what two readers understand differently must not decide what an agent may write.
///
/// Refused here: text that is not UTF-8 or starts with a byte order mark, duplicate keys anywhere,
/// keys that are not scalars, an alias inside the node that it names, `<<` with anything but one
/// mapping, and a key that is set both beside and by a `<<`.
namespace lima::yaml {

/// Nested collections, those that aliases stand for included; Lima's own files have at most six.
/// Keeps recursion bounded, that of the destruction of nodes too.
inline constexpr int kMaximumDepth = 100;

/// `<<` through `<<`; more would let a small file cost quadratic work.
inline constexpr int kMaximumMergeDepth = 16;

/// Keys of a mapping that is looked at, merged ones included.
inline constexpr std::size_t kMaximumKeys = 1000;

/// Documents of one file, of which only the first counts. Also ends yaml-cpp's search for more: it
/// never gets past a stray comma, and calls it one empty document after another.
inline constexpr int kMaximumDocuments = 100;

struct Node;
/// Shared, since an alias is the node that it names: an alias costs nothing, however often it
/// doubles what it stands for.
using NodePointer = std::shared_ptr<const Node>;

enum class Kind { kNull, kScalar, kSequence, kMapping };

struct Entry {
  std::string key;
  bool is_merge = false;  ///< a plain `<<`
  NodePointer value;
};

struct Node {
  Kind kind = Kind::kNull;
  std::string tag;                 ///< as written and resolved; empty where there is none
  bool plain = false;              ///< a scalar without quotes, not a block
  std::string text;                ///< of a scalar
  std::vector<NodePointer> items;  ///< of a sequence
  std::vector<Entry> entries;      ///< of a mapping, in their order
  int line = 0;                    ///< from 1
  int depth = 0;                   ///< collections, one inside the other, aliases followed
};

/// Throws ConfigurationError that starts with `file`. An empty text is a null node.
NodePointer Parse(std::string_view text, const std::string& file);

/// The values of a mapping, its merges applied. One look at a mapping; `what` ("mounts[2]") and
/// `file` go into errors.
class Mapping {
 public:
  /// A null node is an empty mapping. Throws ConfigurationError when the node is something else.
  Mapping(const NodePointer& node, std::string file, std::string what);

  /// A null pointer when there is no such key.
  [[nodiscard]] NodePointer Find(std::string_view key) const;

  /// Each throws ConfigurationError when there is a value of another type, and gives nothing when
  /// there is no such key or its value is null.
  [[nodiscard]] std::optional<bool> Boolean(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> String(std::string_view key) const;

  /// A whole number in plain decimal digits, from 0 to `maximum`.
  [[nodiscard]] std::optional<unsigned long> Number(std::string_view key,
                                                    unsigned long maximum) const;

  /// A null pointer when the key is missing or its value is null.
  [[nodiscard]] NodePointer Sequence(std::string_view key) const;

  [[nodiscard]] Mapping Child(std::string_view key) const;

  using Entries = std::map<std::string, NodePointer, std::less<>>;
  [[nodiscard]] const Entries& entries() const { return entries_; }

  /// "FILE: mounts[2].location (line 14)".
  [[nodiscard]] std::string Where(std::string_view key) const;

 private:
  void Add(const Node& node, int merge_depth);
  [[nodiscard]] std::string NameOf(std::string_view key) const;

  std::string file_;
  std::string what_;
  Entries entries_;
};

/// Whether Lima's reader turns this scalar into a number or a truth value and prints it in another
/// way than it was written (1.50, 0x10, 007, True) where a text is wanted.
bool IsRewrittenByLima(const Node& node);

}  // namespace lima::yaml
