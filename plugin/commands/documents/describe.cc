#include "commands/documents/page.h"

namespace commands {
namespace {

/// "a", "a or b", "a, b or c".
std::string Alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

/// For a screen.
std::string Brief(std::string_view brief, Offers offers, std::string_view by_default) {
  std::string text(brief);
  const auto words = OfferedWords(offers);
  if (!words.empty()) text += ": " + Alternatives(words);
  if (!by_default.empty()) text += " (default: " + std::string(by_default) + ")";
  return text;
}

Row OptionRow(const Option& option, const Page& page) {
  std::string text = Brief(option.brief, option.offers, option.by_default);
  if (!page.is_complete()) {
    if (option.is_list) text += "; may be repeated";
  } else {
    text += ".";
    if (!option.more.empty()) text += " " + std::string(option.more);
    if (option.is_list) text += " May be repeated.";
  }
  const std::string value = option.value.empty() ? "" : " " + std::string(option.value);
  return {"--" + std::string(option.name) + value, text};
}

std::vector<Row> OptionRows(const std::vector<Option>& options, const Page& page) {
  std::vector<Row> rows;
  for (const Option& option : options) rows.push_back(OptionRow(option, page));
  return rows;
}

}  // namespace

void Describe(const Command& command, Page& page) {
  std::string usage = "limactl mcp " + std::string(command.name) + " [OPTIONS]";
  std::vector<Row> arguments;
  for (const Argument& argument : command.arguments) {
    usage += " " + std::string(argument.usage);
    std::string text = Brief(argument.brief, argument.offers, "");
    arguments.push_back({std::string(argument.usage), page.is_complete() ? text + "." : text});
  }
  page.Begin(command, usage);
  page.Example("limactl mcp " + std::string(command.example));
  if (!arguments.empty()) page.Rows("Arguments", arguments);
  std::vector<Row> options = OptionRows(command.options, page);
  if (!page.is_complete()) options.push_back({"-h, --help", "Print this help"});
  if (!options.empty()) page.Rows("Options", options);
  if (command.has_options_of_serve && page.is_complete() && command.name != "serve") {
    page.Text("It has the options of `serve`, too, except `--copy`.");
  } else if (command.has_options_of_serve) {
    for (const OptionGroup& group : OptionsOfServe()) {
      page.Rows(group.title, OptionRows(group.options, page));
    }
  }
  if (!command.exit_status.empty()) {
    page.Text("Exit status: " + std::string(command.exit_status) + ".");
  }
}

std::string Sentences(const Command& command) {
  return std::string(command.brief) + "." + (command.more.empty() ? "" : " ") +
         std::string(command.more);
}

std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos; at += to.size()) {
    result.replace(at, from.size(), to);
  }
  return result;
}

std::string Marked(std::string_view text, std::string_view before, std::string_view after) {
  std::string result;
  bool is_inside = false;
  for (const char c : text) {
    if (c != '`') {
      result += c;
      continue;
    }
    result += is_inside ? after : before;
    is_inside = !is_inside;
  }
  return result;
}

}  // namespace commands
