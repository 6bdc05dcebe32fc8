#include "mcp/json_reader.h"

#include <utility>
#include <vector>

namespace mcp {
namespace {

using nlohmann::json;

/// Builds the value from the events of nlohmann's parser, within the limits. Beyond a limit it
/// keeps only what it has and a top-level "id".
class Builder : public nlohmann::json_sax<json> {
 public:
  explicit Builder(JsonText& out) : out_(out) {}

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(std::size_t) override { return Open(json::object()); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(json::array()); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;
    out_.problem = JsonText::Problem::kSyntax;
    out_.explanation = error.id == kNumberOverflow ? "number out of range" : "not valid JSON";
    out_.explanation += " at byte " + std::to_string(position);
    out_.value = nullptr;
    return false;
  }

 private:
  [[nodiscard]] bool too_large() const { return out_.problem != JsonText::Problem::kNone; }

  void Refuse(std::string explanation) {
    out_.problem = JsonText::Problem::kTooLarge;
    out_.explanation = std::move(explanation);
  }

  /// Where the next value belongs; null when it is skipped.
  json* Slot() {
    if (!too_large() && ++values_ > kMaxJsonValues) {
      Refuse("more than " + std::to_string(kMaxJsonValues) + " values in one message");
    }
    if (too_large()) {
      const bool is_top_level_id = depth_ == 1 && key_ == "id" && out_.value.is_object();
      return is_top_level_id ? &out_.value["id"] : nullptr;
    }
    if (open_.empty()) return &out_.value;
    json& parent = *open_.back();
    return parent.is_object() ? &parent[key_] : &parent.emplace_back();
  }

  bool Add(json value) {
    if (json* slot = Slot()) *slot = std::move(value);
    return true;
  }

  bool Open(json container) {
    json* slot = Slot();
    if (slot != nullptr) *slot = std::move(container);
    ++depth_;
    if (!too_large()) open_.push_back(slot);
    if (!too_large() && depth_ > kMaxJsonDepth) {
      Refuse("nested more than " + std::to_string(kMaxJsonDepth) + " levels deep");
    }
    return true;
  }

  bool Close() {
    --depth_;
    if (!too_large()) open_.pop_back();
    return true;
  }

  JsonText& out_;
  std::vector<json*> open_;  // the containers being filled, outermost first
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  std::string key_;
};

}  // namespace

JsonText ParseJson(std::string_view text) {
  JsonText result;
  // nlohmann's parser takes a NUL for the end of its input.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    result.problem = JsonText::Problem::kSyntax;
    result.explanation = "NUL at byte " + std::to_string(nul + 1);
    return result;
  }
  Builder builder(result);
  json::sax_parse(text.begin(), text.end(), &builder);
  return result;
}

}  // namespace mcp
