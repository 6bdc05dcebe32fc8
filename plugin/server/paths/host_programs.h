// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The files of a project that programs of the host run or obey. One table for the file tools,
/// which refuse to write some of them, and for reports on changes by the guest.
namespace paths {

/// When the program runs it, the most dangerous first.
enum class RunBy : std::uint8_t {
  kConfigured,       ///< the user's own configuration names it: its row says more than the others
  kLooking,          ///< cd, a prompt, TAB, git status, a file or folder opened in an editor
  kHarmlessCommand,  ///< a command that people take for harmless there: --version, list, status
  kAgent,            ///< the start of an agent
  kOther,            ///< not known; see MayBeConfiguration
};

enum class Writing : std::uint8_t {
  kAllowed,
  kRefused,
  kRefusedBesideHead,  ///< at the top of a directory with a file HEAD: git takes it for its own
};

struct HostProgram {
  /// Separated by spaces, in gitignore's style: `*` and `?` match within a name, `/` at the
  /// beginning means the top of the project, else the pattern matches at any depth. `NAME/` is the
  /// directory with all that is below, or a file or link of that name. Without the slash it is only
  /// a file.
  std::string_view patterns;
  RunBy run_by;
  std::string_view program;
  std::string_view reason;  ///< at most ten words
  Writing writing = Writing::kAllowed;
};

/// The table, and what matches it. Several threads may call the const functions.
class HostPrograms {
 public:
  /// Adds `further` rows to the table, such as the agents', which this folder does not know.
  explicit HostPrograms(std::span<const HostProgram> further = {});

  /// Their texts must outlive this object.
  void Add(std::span<const HostProgram> rows);

  [[nodiscard]] std::span<const HostProgram> rows() const { return rows_; }

  /// The rows that match `path`, in their order. It must be clean and relative to the project.
  /// Names are compared by FoldName, without regard to case.
  [[nodiscard]] std::vector<const HostProgram*> Match(std::string_view path) const;

 private:
  struct Expressions;

  std::vector<HostProgram> rows_;
  /// Compiled by the first use, as it takes two milliseconds.
  std::shared_future<std::shared_ptr<const Expressions>> expressions_;
};

/// Whether the names in `path` say that it may be configuration of something that the table does
/// not know. Not lock files, translations and data of tests.
bool MayBeConfiguration(std::string_view path);

}  // namespace paths
