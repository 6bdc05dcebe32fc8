// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace support {

/// A regular expression of RE2. The only way to RE2, whose headers have a string view of their own
/// on some systems. Immutable; thread-safe; copies share the compiled expression.
///
/// Groups are stored in `captures`: a std::string*, a std::string_view* into the text, or a pointer
/// to an integer, in decimal. Nothing matches if such a number is too large. A group that took no
/// part is empty.
class Regex {
 public:
  enum class Encoding : std::uint8_t { kUtf8, kLatin1 };
  static constexpr auto kLatin1 = Encoding::kLatin1;  ///< of bytes: each is a character

  static constexpr std::int64_t kDefaultMemory = std::int64_t{8} << 20;

  /// Throws std::invalid_argument, with RE2's words, if the pattern is invalid or would need more
  /// than `max_memory` bytes.
  explicit Regex(std::string_view pattern, Encoding encoding = Encoding::kUtf8,
                 std::int64_t max_memory = kDefaultMemory);

  template <typename... Targets>
  [[nodiscard]] bool FullMatch(std::string_view text, Targets*... captures) const {
    return Match(Anchor::kBoth, text, nullptr, captures...);
  }

  template <typename... Targets>
  [[nodiscard]] bool PartialMatch(std::string_view text, Targets*... captures) const {
    return Match(Anchor::kNone, text, nullptr, captures...);
  }

  /// Removes what matches at the beginning of `text`. Without a match, `text` stays as it is.
  template <typename... Targets>
  bool Consume(std::string_view& text, Targets*... captures) const {
    return Match(Anchor::kStart, text, &text, captures...);
  }

  /// Removes the first match in `text`, and what is before it.
  template <typename... Targets>
  bool FindAndConsume(std::string_view& text, Targets*... captures) const {
    return Match(Anchor::kNone, text, &text, captures...);
  }

  /// The first match; the empty end of `text` if there is none.
  [[nodiscard]] std::string_view Find(std::string_view text) const;

  /// Replaces the first match, and returns whether there was one. In `replacement`, `\1` stands for
  /// the first group and `\\` for a backslash.
  bool Replace(std::string& text, std::string_view replacement) const;
  void ReplaceAll(std::string& text, std::string_view replacement) const;

  /// A pattern that matches only `text`.
  [[nodiscard]] static std::string Quote(std::string_view text);

 private:
  enum class Anchor : std::uint8_t { kNone, kStart, kBoth };
  static constexpr std::size_t kMaxCaptures = 4;
  struct Compiled;

  /// Fills `found` with the match and its groups. RE2 is fastest if that is empty.
  bool Search(Anchor anchor, std::string_view text, std::span<std::string_view> found) const;

  template <typename... Targets>
  bool Match(Anchor anchor, std::string_view text, std::string_view* rest,
             Targets*... captures) const {
    static_assert(sizeof...(captures) <= kMaxCaptures);
    std::array<std::string_view, 1 + sizeof...(captures)> found;
    const bool needs_none = rest == nullptr && sizeof...(captures) == 0;
    if (!Search(anchor, text, std::span(found).first(needs_none ? 0 : found.size()))) return false;
    [[maybe_unused]] std::size_t group = 0;
    if (!(Store(found[++group], *captures) && ...)) return false;
    if (rest) rest->remove_prefix(static_cast<std::size_t>(found[0].end() - text.begin()));
    return true;
  }

  static bool Store(std::string_view group, std::string& target) {
    target = group;
    return true;
  }
  static bool Store(std::string_view group, std::string_view& target) {
    target = group;
    return true;
  }
  template <std::integral Number>
  static bool Store(std::string_view group, Number& target) {
    Number number = 0;
    const char* const end = group.data() + group.size();
    const auto result = std::from_chars(group.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end) return false;
    target = number;
    return true;
  }

  std::shared_ptr<const Compiled> compiled_;
};

/// Several expressions that are matched at once. `.` also matches line breaks. Immutable;
/// thread-safe; copies share the compiled expressions.
class RegexSet {
 public:
  /// Throws std::invalid_argument, with RE2's words, if a pattern is invalid or all together need
  /// too much memory.
  explicit RegexSet(std::span<const std::string> patterns,
                    Regex::Encoding encoding = Regex::Encoding::kUtf8, bool case_sensitive = true);

  /// The indices of the patterns that match the whole text, in any order. Empty if RE2 runs out of
  /// its memory.
  [[nodiscard]] std::optional<std::vector<int>> FullMatches(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace support
