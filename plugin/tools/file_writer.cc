#include "tools/file_writer.h"

#include "support/paths.h"

namespace tools {

std::shared_ptr<LeftoverCleaner> FileWriter::CleanerOf(const std::shared_ptr<guest::Guest>& guest) {
  const std::scoped_lock lock(mutex_);
  if (!cleaner_ || guest_.lock() != guest) {
    cleaner_ = std::make_shared<LeftoverCleaner>();
    guest_ = guest;
  }
  return cleaner_;
}

void FileWriter::Write(const ResolvedPath& target, std::string_view content,
                       LeftBehind& left_behind, const std::shared_ptr<guest::Guest>& guest,
                       const support::Context& context, const std::function<void()>& last_look) {
  const std::shared_ptr<LeftoverCleaner> cleaner = CleanerOf(guest);
  const auto tell_change = [&] {
    if (on_change_) on_change_(*guest);
  };
  try {
    WriteWhole(target, content, {*cleaner, left_behind, last_look}, *guest, context);
  } catch (...) {
    tell_change();  // in part perhaps, or all of it and only the answer is missing
    throw;
  }
  tell_change();
  if (cleaner->IsFirstWriteIn(support::ParentPath(target.guest))) {
    SweepLeftovers(target.guest, *guest, context);
  }
}

}  // namespace tools
