#include "shell/cut_outputs.h"

#include <utility>
#include <vector>

#include "support/errors.h"
#include "support/join.h"

namespace shell {

std::string CutOutputs::Keep(OutputLog output) {
  output.Finish();
  const std::scoped_lock lock(mutex_);
  if (entries_.size() == kMaxKept) entries_.pop_front();
  entries_.push_back({"c" + std::to_string(++last_id_), std::move(output), 0});
  return entries_.back().id;
}

CutOutputs::Output CutOutputs::Read(std::string_view id, std::optional<std::int64_t> offset,
                                    std::size_t maximum) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> known;
  for (Entry& entry : entries_) {
    if (entry.id == id) {
      const std::uint64_t from = offset ? entry.output.Resolve(*offset) : entry.next_read;
      Output read{entry.output.Read(from, maximum), 0};
      read.remaining = entry.output.total() - read.piece.end;
      entry.next_read = read.piece.end;
      return read;
    }
    known.push_back(entry.id);
  }
  throw support::CallError("there is no output " + std::string(id) + " of a command any more; " +
                           (known.empty() ? "none is kept" : "kept are " + support::Join(known)));
}

}  // namespace shell
