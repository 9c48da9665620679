// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/help.h"

#include <memory>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace offwait::cli {
namespace {

constexpr std::size_t kColumn = 30;  ///< where descriptions begin
constexpr std::size_t kWidth = 100;

/// `  name    description`, the description below itself where it is longer than the line. A name that leaves
/// no room has a line of its own.
std::string entry(const std::string& name, const std::string& description) {
  std::string text = "  " + name;
  std::size_t column = text.size();
  if (column + 2 > kColumn) {
    text += "\n";
    column = 0;
  }
  std::istringstream words(description);
  bool is_first = true;
  for (std::string word; words >> word; is_first = false) {
    if (!is_first && column + 1 + word.size() > kWidth) {
      text += "\n";
      column = 0;
      is_first = true;
    }
    const std::size_t begin = is_first ? kColumn : column + 1;
    text += std::string(begin - column, ' ') + word;
    column = begin + word.size();
  }
  return text + "\n";
}

/// CLI11 asks a formatter for the whole of the help, and knows no examples.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const HelpText& text) : text_(text) {}

  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode /*mode*/) const override {
    std::string help = fmt::format("{}\nUsage: {}", text_.description, text_.usage);
    if (!text_.examples.empty()) help += fmt::format("\nExamples:\n{}", text_.examples);
    help += commands_of(*app);
    for (const std::string& group : app->get_groups()) help += group_of(*app, group);
    if (!text_.closing.empty()) help += fmt::format("\n{}", text_.closing);
    return help;
  }

 private:
  static std::string commands_of(const CLI::App& app) {
    std::string text;
    for (const CLI::App* command : app.get_subcommands({}))
      text += entry(command->get_name(), command->get_description());
    return text.empty() ? "" : "\nCommands:\n" + text;
  }

  static std::string group_of(const CLI::App& app, const std::string& group) {
    const std::vector<const CLI::Option*> options =
        app.get_options([&group](const CLI::Option* option) { return option->get_group() == group; });
    if (group.empty() || options.empty()) return "";
    std::string text = fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : options) {
      const bool is_repeated = option->get_expected_max() > 1;
      std::string name = option->get_name(option->get_positional(), true);
      if (!option->get_type_name().empty()) name += " " + option->get_type_name();
      text += entry(name + (is_repeated ? " ..." : ""), option->get_description());
    }
    return text;
  }

  HelpText text_;
};

}  // namespace

std::string short_help(const std::string& command, const HelpText& text) {
  constexpr int kMost = 5;
  std::string examples;
  std::istringstream lines{std::string(text.examples)};
  std::string line;
  for (int i = 0; i < kMost && std::getline(lines, line); ++i) examples += line + "\n";
  std::string help = fmt::format("{}\nUsage: {}", text.description, text.usage);
  if (!examples.empty()) help += fmt::format("\n{}", examples);
  const std::string all = command.empty() ? "offwait --help" : fmt::format("offwait {} --help", command);
  const std::string commands = command.empty() ? " and commands" : "";
  return help + fmt::format("\nAll options{}: {}, or man offwait{}\n", commands, all,
                            command.empty() ? "" : "-" + command);
}

void set_help(CLI::App& app, const HelpText& text) { app.formatter(std::make_shared<HelpFormatter>(text)); }

}  // namespace offwait::cli
