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
namespace exposure {

/// When the program runs it, the most dangerous first.
enum class RunBy : std::uint8_t {
  kConfigured,       ///< the user's own configuration names it: its row says more than the others
  kLooking,          ///< cd, a prompt, TAB, git status, a file or folder opened in an editor
  kHarmlessCommand,  ///< a command that people take for harmless there: --version, list, make -n
  kAgent,            ///< the start of an agent
  kBuilding,         ///< build, test, install, run, commit
  kPrompt,           ///< nothing: an agent reads it as text
  kElsewhere,        ///< another machine, such as CI
};

enum class Writing : std::uint8_t {
  kAllowed,
  kRefused,
  kRefusedBesideHead,  ///< if a file HEAD is in the same directory: git then takes it for its own
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

struct HostMatch {
  const HostProgram* row;
  std::size_t start;  ///< of the match in the path
  auto operator<=>(const HostMatch& other) const = default;
};

/// The table, and what matches it. Several threads may call the const functions.
class HostPrograms {
 public:
  /// Adds `further` rows to the table, such as the agents', which this folder does not know.
  explicit HostPrograms(std::span<const HostProgram> further = {});

  /// Their texts must outlive this object.
  void Add(std::span<const HostProgram> rows);

  [[nodiscard]] std::span<const HostProgram> rows() const { return rows_; }

 private:
  friend class RowFinder;
  struct Expressions;

  std::vector<HostProgram> rows_;
  /// Compiled by the first use, as it takes two milliseconds.
  std::shared_future<std::shared_ptr<const Expressions>> expressions_;
};

/// Finds the rows of many paths of a project. It keeps what it found for the directories of the
/// last one, so that paths cost what they weigh also where they are deep. One thread.
class RowFinder {
 public:
  /// `programs` must outlive this object.
  explicit RowFinder(const HostPrograms& programs);

  /// The rows that match `path`, in their order. It must be clean and relative to the project.
  /// Names are compared by FoldName, without regard to case. For a link that none match, the rows
  /// that are about files in a directory of its name: it brings others.
  std::vector<HostMatch> Match(const std::string& path, bool is_link = false);

  /// The same, each once, without those that count only beside a HEAD.
  std::vector<const HostProgram*> Rows(const std::string& path, bool is_link = false);

 private:
  struct Level {
    std::size_t end;                 ///< of a directory of the last path
    std::vector<HostMatch> matches;  ///< of it and those above
  };

  const HostPrograms& programs_;
  const std::shared_ptr<const HostPrograms::Expressions> expressions_;
  std::string last_;
  std::vector<Level> levels_;
};

}  // namespace exposure
