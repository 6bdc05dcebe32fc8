// SPDX-License-Identifier: Apache-2.0
#include "commands/documents/documents.h"
#include "support/format.h"
#include "support/join.h"

namespace commands {
namespace {

/// The brief text with the offered words and the default, unless it has that itself.
std::string Completed(std::string_view brief, Offers offers, std::string_view by_default) {
  std::string text(brief);
  const auto words = OfferedWords(offers);
  if (!words.empty()) text += ": " + support::Join(words);
  if (!by_default.empty() && !brief.ends_with(')'))
    text += " (default: " + std::string(by_default) + ")";
  return text;
}

std::vector<Row> OptionRows(const std::vector<Option>& options, bool is_brief) {
  std::vector<Row> rows;
  for (const Option& option : options) {
    const std::string value = option.value.empty() ? "" : " " + std::string(option.value);
    std::string text = Completed(option.brief, option.offers, option.by_default);
    if (option.is_list) text += "; may be repeated";
    if (!is_brief && !option.more.empty()) text += ". " + std::string(option.more);
    rows.push_back({"--" + std::string(option.name) + value, text});
  }
  return rows;
}

}  // namespace

std::string Code(std::string_view title, std::string_view line) {
  return support::Format("{}\n\n```sh\nlimactl mcp {}\n```\n\n", title, line);
}

std::string List(std::string_view title, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::string text = std::string(title) + "\n\n";
  for (const Row& row : rows) text += "- `" + row.term + "`: " + row.text + "\n";
  return text + "\n";
}

std::string Reference(const Command& command, bool is_brief) {
  const std::string name(command.name);
  std::string usage = name + " [OPTIONS]";
  std::vector<Row> arguments;
  for (const Argument& argument : command.arguments) {
    arguments.push_back(
        {std::string(argument.usage), Completed(argument.brief, argument.offers, "")});
    usage += " " + arguments.back().term;
  }
  std::vector<Row> options = OptionRows(command.options, is_brief);
  if (is_brief) options.push_back({"-h, --help", "Print this help"});

  std::string text = std::string(command.brief) + ".\n\n" + Code("Usage:", usage);
  if (!command.more.empty()) text += std::string(command.more) + "\n\n";
  text += List("Arguments:", arguments) + List("Options:", options);
  if (command.has_options_of_serve && !is_brief && name != "serve") {
    text += "And those of `serve`, except `--copy`.\n\n";
  } else if (command.has_options_of_serve) {
    for (const OptionGroup& group : OptionsOfServe()) {
      text += List(group.title, OptionRows(group.options, is_brief));
    }
  }
  const std::string status(command.exit_status);
  if (!status.empty()) text += support::Format("Exit status: {}.\n\n", status);
  return text + Code("Example:", command.example);
}

std::string OptionsPage() {
  std::string text =
      "<!-- Made by ./dev generate -->\n# Commands and options\n\n"
      "`limactl mcp --help` (`-h`) and `limactl mcp COMMAND --help` print this in short, "
      "`limactl mcp --version` (`-v`) prints the version.\n\n";
  for (const Command& command : Commands()) {
    const std::string page(command.page);
    text += "## " + std::string(command.name) + "\n\n" + Reference(command);
    if (!page.empty()) text += "More: [" + page + "](" + page + ")\n\n";
  }
  text += List("## Environment", EnvironmentVariables()) + List("## Files", FilesOfLima());
  text.pop_back();
  return text;
}

}  // namespace commands
