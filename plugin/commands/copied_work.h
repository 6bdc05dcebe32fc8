// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "commands/copy_command.h"
#include "commands/work.h"

namespace commands {

/// A project that the guest has a copy of. The copy is locked only while a function works with it.
class CopiedWork : public Work {
 public:
  /// Empty `project`: the repository of the current directory. Empty `directory`: where the copy
  /// is, or the project's own path.
  CopiedWork(const Instance& instance, const std::string& project,
             const std::string& directory = "");

  [[nodiscard]] std::string GuestDirectory() const override;
  void Begin() override;
  void End() override;
  bool PrintChanges(std::ostream& out) override;
  void Accept() override;
  void PrintDiff(bool only_names, std::uint64_t max_size) override;

 private:
  const std::string directory_;
  std::optional<copy::FileLock> use_;  ///< keeps the copy as it is while an agent runs
};

}  // namespace commands
