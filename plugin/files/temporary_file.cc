#include "files/temporary_file.h"

#include <exception>
#include <utility>

#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"

namespace files {
namespace {

constexpr std::chrono::seconds kCleanUpTimeLimit{5};

std::string TakenText(const std::vector<std::string>& taken) {
  return "other servers write in this directory, or left files there: if no server runs, remove " +
         std::string(support::LastComponent(taken.front())) + " to " +
         std::string(support::LastComponent(taken.back()));
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& directory, std::uint32_t permissions,
                             guest::Guest& guest, const support::Context& context)
    : guest_(guest), context_(context) {
  while (!file_) {
    const std::string number = std::to_string(taken_.size() + 1);
    path_ = support::JoinPath(directory, std::string(kTemporaryPrefix) + number);
    try {
      file_ = guest.Open(path_, guest::OpenMode::kCreateExclusive, permissions, context);
    } catch (const guest::FileError& error) {
      if (error.code() != guest::FileErrorCode::kAlreadyExists) throw;
      taken_.push_back(path_);
      if (taken_.size() == kMostTaken) {
        throw guest::FileError(guest::FileErrorCode::kFailure, "write", path_, TakenText(taken_));
      }
    }
  }
  is_ours_ = true;
}

TemporaryFile::~TemporaryFile() {
  if (!is_ours_) return;
  file_.reset();
  try {
    guest_.Unlink(path_, support::Context().WithTimeout(kCleanUpTimeLimit));
  } catch (const std::exception& error) {
    support::LogWarning("cannot remove a temporary file in the guest: " + path_ + ": " +
                        error.what());
  }
}

void TemporaryFile::WriteAndClose(std::string_view bytes,
                                  std::optional<std::uint32_t> permissions) {
  file_->WriteAndClose(bytes, permissions, context_);
  file_.reset();
}

void TemporaryFile::RenameTo(const std::string& target) {
  is_ours_ = false;  // unless the guest reports that it was not renamed
  try {
    guest_.Rename(path_, target, context_);
  } catch (const guest::FileError& error) {
    is_ours_ = error.code() != guest::FileErrorCode::kNotFound;
    throw;
  }
}

void TemporaryFile::RemoveLeftovers(const std::string& written) {
  if (taken_.empty()) return;
  constexpr std::int64_t kAge = std::chrono::seconds(kLeftoverAge).count();
  try {
    std::vector<guest::Request> looks{guest::ask::LStat{written}};
    for (const std::string& path : taken_) looks.emplace_back(guest::ask::LStat{path});
    std::vector<guest::Reply> found = guest_.AskAll(std::move(looks), context_);
    // Compared by the file system's own clock, which may differ from the guest's.
    const std::int64_t now = found.front().As<guest::FileAttributes>().modified;
    std::vector<guest::Request> removals;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      guest::Reply& reply = found[i + 1];
      if (reply.failure) continue;  // gone by now
      const auto& attributes = reply.As<guest::FileAttributes>();
      const bool is_old = attributes.modified + kAge < now;
      if (is_old && attributes.type == guest::FileType::kRegular) {
        removals.emplace_back(guest::ask::Unlink{taken_[i]});
      }
    }
    if (!removals.empty()) guest_.AskAll(std::move(removals), context_);
  } catch (const support::CallError& error) {
    support::LogInfo(std::string("leftover temporary files were not removed: ") + error.what());
  }
}

}  // namespace files
