// SPDX-License-Identifier: Apache-2.0
#include "shell/output_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/utf8.h"

namespace shell {

void OutputLog::Add(std::string_view bytes) {
  total_ += bytes.size();
  if (bytes.size() > maximum_) bytes.remove_prefix(bytes.size() - maximum_);
  kept_ += bytes;
  // Not at each call: many small pieces would move the rest each time.
  if (kept_.size() > maximum_ + maximum_ / 8) kept_.erase(0, kept_.size() - maximum_);
}

std::uint64_t OutputLog::readable() const {
  return finished_ ? total_ : begin() + support::WithoutCutEnd(kept_).size();
}

OutputLog::Piece OutputLog::Read(std::uint64_t offset, std::size_t maximum, bool peeks) {
  const std::uint64_t last = readable();
  offset = std::min(offset, last);
  if (maximum == 0) {
    next_read_ = peeks ? next_read_ : offset;
    return {"", offset, 0, last - offset};
  }
  const std::uint64_t from = offset < begin() ? CharacterFrom(begin()) : offset;
  std::string_view bytes = std::string_view(kept_).substr(from - begin(), last - from);
  if (bytes.size() > maximum) {
    const std::string_view whole = support::CutText(bytes, maximum);
    bytes = bytes.substr(0, whole.empty() ? maximum : whole.size());
  }
  const std::uint64_t end = from + bytes.size();
  if (!peeks) next_read_ = end;
  return {std::string(bytes), end, from - offset, last - end};
}

std::uint64_t OutputLog::Resolve(std::optional<std::int64_t> offset) const {
  if (!offset) return next_read_;
  if (*offset >= 0) return static_cast<std::uint64_t>(*offset);
  const std::uint64_t last = readable();
  const std::uint64_t bytes = std::uint64_t{0} - static_cast<std::uint64_t>(*offset);
  return CharacterFrom(std::max(bytes < last ? last - bytes : 0, begin()));
}

std::uint64_t OutputLog::CharacterFrom(std::uint64_t offset) const {
  const std::uint64_t last = readable();
  if (offset >= last) return offset;
  const auto rest = std::string_view(kept_).substr(offset - begin(), last - offset);
  return last - support::WithoutCutBeginning(rest).size();
}

std::string CutOutputs::Keep(OutputLog output) {
  output.Finish();
  const std::scoped_lock lock(mutex_);
  if (entries_.size() == kMaxKept) entries_.pop_front();
  entries_.push_back({support::Format("c{}", ++last_id_), std::move(output)});
  return entries_.back().id;
}

OutputLog::Piece CutOutputs::Read(std::string_view id, std::optional<std::int64_t> offset,
                                  std::size_t maximum) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> known;
  for (auto& [known_id, output] : entries_) {
    if (known_id == id) return output.Read(output.Resolve(offset), maximum);
    known.push_back(known_id);
  }
  throw support::Error(
      "there is no output {} of a command any more; {}", id,
      known.empty() ? "none is kept" : support::Format("kept are {}", support::Join(known)));
}

}  // namespace shell
