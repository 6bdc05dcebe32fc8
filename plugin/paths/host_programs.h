#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What programs of the host run or obey in a project: one table, for the file tools, which refuse
/// to write some of it, and for reports on what the guest has changed.
namespace paths {

/// What makes the program run it, the most dangerous first.
enum class RunBy : std::uint8_t {
  kConfigured,  ///< the user's own configuration names it: its row says more than the others
  kLooking,     ///< cd, a prompt, TAB, git status, a file or folder opened in an editor
  kHarmless,    ///< a command that people take for harmless there: --version, list, make -n
  kAgent,       ///< the start of an agent
  kBuilding,    ///< build, test, install, run, commit
  kPrompt,      ///< nothing: an agent reads it as text
  kElsewhere,   ///< another machine, such as CI
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
  /// Of git's configuration, or "PATH": the row is about what these name, not about a path.
  std::string_view keys = {};
};

struct HostMatch {
  HostProgram row;
  std::string_view above;  ///< the part of the path before the match: empty, or ends with a slash
};

/// A name as the host's file systems may compare it, but with the case of ASCII letters:
///   after Unicode's full case folding ("\u017f" is "s"): APFS
///   without the code points that HFS+ and ext4's case folding ignore, such as U+200C
///   without dots and spaces at the end, and without a stream ("::$INDEX_ALLOCATION"): NTFS
///   "git~1" is ".git": NTFS, as git's is_ntfs_dotgit() has it
std::string FoldName(std::string_view name);

/// The table, and what matches it. Several threads may call Match.
class HostPrograms {
 public:
  /// With `further` rows, such as those of agents, which this folder does not know.
  explicit HostPrograms(std::span<const HostProgram> further = {});

  /// Their texts must outlive this object.
  void Add(std::span<const HostProgram> rows);

  /// The most dangerous first within each program.
  [[nodiscard]] std::span<const HostProgram> rows() const { return rows_; }

  /// The rows that match `path`, which must be clean and relative to the project; `above` is a view
  /// into it. Names are compared by FoldName, without regard to case.
  [[nodiscard]] std::vector<HostMatch> Match(std::string_view path) const;

 private:
  struct Expressions;
  std::vector<HostProgram> rows_;
  /// One for each row. Compiled by the first Match, as it takes two milliseconds.
  std::shared_future<std::shared_ptr<const Expressions>> expressions_;
};

}  // namespace paths
