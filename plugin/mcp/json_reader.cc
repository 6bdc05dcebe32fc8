#include "mcp/json_reader.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mcp/json_unescape.h"
#include "support/utf8.h"

namespace mcp {
namespace {

using nlohmann::json;

bool IsAllDigits(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// JSON text as nlohmann's lexer gets it: long strings are empty there. Their texts are asked for
/// when the lexer has told of an empty string, which it does before it reads on.
class ShortenedText {
 public:
  explicit ShortenedText(std::string_view text) : text_(text), long_(FindLongStrings(text)) {}

  /// Reads the text once; copies share their place.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Iterator(ShortenedText& text, std::size_t position)
        : text_(&text), position_(position), next_stop_(text.NextStop()) {}

    reference operator*() const { return text_->text_[position_]; }
    Iterator& operator++() {
      if (++position_ == next_stop_) {
        position_ = text_->SkipString();
        next_stop_ = text_->NextStop();
      }
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.position_ == b.position_;
    }

   private:
    ShortenedText* text_;
    std::size_t position_;
    std::size_t next_stop_;
  };

  Iterator begin() { return {*this, 0}; }
  Iterator end() { return {*this, text_.size()}; }

  /// What the string that the lexer has told of last is in truth.
  std::string& InTruth(std::string& told) {
    return std::exchange(skipped_now_, false) ? long_[skipped_ - 1].text : told;
  }

  /// Bytes that the lexer does not know of, up to where it is.
  [[nodiscard]] std::size_t skipped_bytes() const { return skipped_bytes_; }

  /// Where the first NUL stands; npos when there is none. Long strings have none.
  [[nodiscard]] std::size_t FindNul() const {
    std::size_t from = 0;
    for (const LongString& string : long_) {
      const std::size_t found = text_.substr(0, string.begin).find('\0', from);
      if (found != std::string_view::npos) return found;
      from = string.end;
    }
    return text_.find('\0', from);
  }

 private:
  [[nodiscard]] std::size_t NextStop() const {
    return skipped_ < long_.size() ? long_[skipped_].begin : std::string_view::npos;
  }
  std::size_t SkipString() {
    const LongString& string = long_[skipped_++];
    skipped_bytes_ += string.end - string.begin;
    skipped_now_ = true;
    return string.end;
  }

  std::string_view text_;
  std::vector<LongString> long_;
  std::size_t skipped_ = 0;  // of long_
  std::size_t skipped_bytes_ = 0;
  bool skipped_now_ = false;
};

/// Builds the value from the events of nlohmann's parser. Needed instead of its own builder for
/// the limits and for numbers of more than 64 bits.
class Builder : public nlohmann::json_sax<json> {
 public:
  Builder(ShortenedText& text, JsonText& out) : text_(text), out_(out) {}

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }

  bool number_float(number_float_t value, const string_t& text) override {
    if (!IsAllDigits(text)) return Add(value);
    return Add(json::binary({text.begin(), text.end()}));
  }

  bool string(string_t& value) override { return Add(std::move(text_.InTruth(value))); }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(std::size_t) override { return Open(json::object()); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(json::array()); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    std::string& whole = text_.InTruth(name);
    if (depth_ == open_.size()) key_ = std::move(whole);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;
    out_.problem = JsonText::Problem::kSyntax;
    out_.explanation = error.id == kNumberOverflow ? "number out of range" : "not valid JSON";
    out_.explanation += " at byte " + std::to_string(position + text_.skipped_bytes());
    out_.value = nullptr;
    return false;
  }

 private:
  void Note(JsonText::Problem problem, std::string explanation) {
    if (out_.problem != JsonText::Problem::kNone) return;
    out_.problem = problem;
    out_.explanation = std::move(explanation);
  }

  bool IsTopLevelId() const {
    return open_.size() == 1 && open_.front()->is_object() && key_ == "id";
  }

  /// Where the next value belongs; null when it is to be skipped.
  json* Slot() {
    if (depth_ != open_.size()) return nullptr;
    if (++values_ > kMaxJsonValues) {
      Note(JsonText::Problem::kTooManyValues,
           "more than " + std::to_string(kMaxJsonValues) + " values in one message");
      if (!IsTopLevelId()) return nullptr;
    }
    if (open_.empty()) return &out_.value;
    json& parent = *open_.back();
    if (parent.is_object()) return &parent[key_];
    return &parent.emplace_back();
  }

  bool Add(json value) {
    if (json* slot = Slot()) *slot = std::move(value);
    return true;
  }

  bool Open(json container) {
    json* slot = Slot();
    ++depth_;
    if (slot == nullptr) return true;
    if (depth_ > kMaxJsonDepth) {
      Note(JsonText::Problem::kTooDeep,
           "nested more than " + std::to_string(kMaxJsonDepth) + " levels deep");
      return true;
    }
    *slot = std::move(container);
    open_.push_back(slot);
    return true;
  }

  bool Close() {
    if (depth_ == open_.size()) open_.pop_back();
    --depth_;
    return true;
  }

  ShortenedText& text_;
  JsonText& out_;
  std::vector<json*> open_;  // the containers being filled, outermost first
  std::size_t depth_ = 0;    // of the text; larger than open_ inside what is skipped
  std::size_t values_ = 0;
  std::string key_;
};

/// An id with U+FFFD may have been mended: then the client does not know it.
void DropMendedId(json& value) {
  if (!value.is_object()) return;
  const auto id = value.find("id");
  if (id == value.end() || !id->is_string()) return;
  const auto& text = id->get_ref<const std::string&>();
  if (text.find(support::kReplacementCharacter) != std::string::npos) value.erase(id);
}

JsonText ParseOnce(std::string_view text) {
  JsonText result;
  ShortenedText shortened(text);
  // nlohmann's parser takes a NUL for the end of its input.
  if (const std::size_t position = shortened.FindNul(); position != std::string_view::npos) {
    result.problem = JsonText::Problem::kSyntax;
    result.explanation = "NUL at byte " + std::to_string(position + 1);
    return result;
  }
  Builder builder(shortened, result);
  // What is wrong with the text the builder has noted: nothing else ends the parser early.
  json::sax_parse(shortened.begin(), shortened.end(), &builder);
  return result;
}

}  // namespace

JsonText ParseJson(std::string_view text) {
  JsonText result = ParseOnce(text);
  if (result.problem != JsonText::Problem::kSyntax) return result;
  // nlohmann's parser ends at half a surrogate pair. Behind it may come the id.
  const std::optional<MendedText> mended = MendHalfPairs(text);
  if (!mended) return result;
  JsonText whole = ParseOnce(mended->text);
  if (whole.problem == JsonText::Problem::kSyntax) return result;
  DropMendedId(whole.value);
  whole.problem = JsonText::Problem::kHalfPair;
  whole.explanation = "half of a surrogate pair at byte " + std::to_string(mended->first + 1);
  return whole;
}

bool IsWholeNumber(const json& value) {
  return value.is_number_integer() || value.is_binary();
}

std::string WholeNumberText(const json& value) {
  if (!value.is_binary()) return value.dump();
  const json::binary_t& digits = value.get_binary();
  return {digits.begin(), digits.end()};
}

}  // namespace mcp
