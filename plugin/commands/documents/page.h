#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands/command_table.h"

/// The documents that are made from the table of commands.
namespace commands {

/// What Describe() writes a command to.
class Page {
 public:
  virtual ~Page() = default;

  /// With the texts of the command.
  virtual void Begin(const Command& command, const std::string& usage) = 0;
  virtual void Text(const std::string& text) = 0;
  virtual void Rows(std::string_view title, const std::vector<Row>& rows) = 0;
  virtual void Example(const std::string& line) = 0;

  /// Whether it has all that is known, not only what fits on a screen.
  [[nodiscard]] virtual bool is_complete() const { return true; }
};

void Describe(const Command& command, Page& page);

/// What the command does.
std::string Sentences(const Command& command);

/// Each pair of backticks replaced.
std::string Marked(std::string_view text, std::string_view before, std::string_view after);

std::string Replaced(std::string_view text, std::string_view from, std::string_view to);

std::string ProgramHelp();
std::string CommandHelp(const Command& command);
std::string OptionsPage();
std::string Manual();
std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

}  // namespace commands
