#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "find/content_search.h"
#include "shell/run_end.h"

namespace find {

/// Formats what git or grep found as `git grep -n` does, keeps the first lines up to the request's
/// limits, and counts all matches. Reads
///   git   name, NUL, number, NUL, text, newline. With context, matching lines have a column and
///         NUL before their text, and "--" and a newline may stand before a name
///   grep  name, ':' (with context NUL, ':' or '-'), number, ':' or '-', text, newline
/// or, of git, names that end with NUL, of grep with newlines. git's names may contain newlines, a
/// text NULs.
class MatchSink : public shell::OutputSink {
 public:
  /// The request must outlive this.
  explicit MatchSink(const SearchRequest& request) : request_(request) {}

  /// Call it before each attempt: a failed one has printed no lines.
  void Start(bool is_git);

  bool OnOutput(shell::Stream stream, std::string_view bytes) override;

  [[nodiscard]] bool has_lines() const { return matches_ > 0; }

  /// Returns the lines kept and, if some are missing, a last one with the totals.
  std::string Finish();

  std::string error_text;

 private:
  enum Field { kName, kNumber, kText };

  void Take(std::string_view& bytes);
  void EndField();
  void AddGitLine(std::string_view name, std::string_view number, std::string_view text);
  void AddGrepLine(std::string_view line);
  bool AddSplitAt(std::size_t at, std::string_view line);
  void AddName(std::string_view name);
  void AddLine(std::string_view name, char sign, std::string_view digits, std::string_view text);
  void BeginFile(std::string_view name);
  bool MayKeepMatch();
  bool Keep(std::size_t number, const std::string& line);
  [[nodiscard]] std::string Format(char sign, std::string_view digits, std::string_view text) const;
  [[nodiscard]] std::string Missing() const;

  const SearchRequest& request_;
  bool is_git_ = true;
  Field first_ = kName;
  Field field_ = kName;
  std::array<std::string, 3> fields_;
  std::size_t left_out_ = 0;  ///< bytes at the end of a field

  std::string file_;
  std::string printed_file_;
  bool is_included_ = false;
  std::size_t matches_in_file_ = 0;
  std::size_t last_number_ = 0;      ///< of the line of this file that was kept last; 0: none
  std::size_t context_end_ = 0;      ///< last number that is context after a kept match
  std::deque<std::string> pending_;  ///< lines that are context if a match follows

  std::string kept_;
  bool is_full_ = false;  ///< a line did not fit
  bool is_cut_per_file_ = false;
  bool is_cut_in_total_ = false;
  std::size_t matches_ = 0;
  std::size_t kept_matches_ = 0;
  std::size_t files_ = 0;
};

}  // namespace find
