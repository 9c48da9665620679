// SPDX-License-Identifier: GPL-2.0-or-later
// Command lines as offwait understands them.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <variant>
#include <vector>

#include "cli/options.h"

namespace offwait::cli::test {

using Words = std::vector<std::string>;

inline std::variant<Options, Exit> parse(const Words& words) {
  std::vector<const char*> argv = {"/usr/bin/offwait"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

/// The options of this command, which the words have to select.
template <class OptionsOfCommand>
OptionsOfCommand good(const Words& words) {
  const auto parsed = parse(words);
  if (const Exit* exit = std::get_if<Exit>(&parsed)) FAIL(exit->text);
  const auto& options = std::get<Options>(parsed);
  REQUIRE(std::holds_alternative<OptionsOfCommand>(options));
  return std::get<OptionsOfCommand>(options);
}

/// The message about a wrong command line, without what all of them have.
inline std::string wrong(const Words& words) {
  const auto parsed = parse(words);
  const Exit* exit = std::get_if<Exit>(&parsed);
  REQUIRE(exit != nullptr);
  CHECK(exit->status == 2);
  const std::string head = "offwait: ";
  // The help of the command that the words name.
  const std::array commands = {"record", "top", "report", "diff", "dump", "export", "calibrate", "doctor"};
  const auto command = std::find_first_of(words.begin(), words.end(), commands.begin(), commands.end());
  const std::string tail = " (see offwait " + (command == words.end() ? "" : *command + " ") + "--help)\n";
  REQUIRE(exit->text.size() > head.size() + tail.size());
  CHECK(exit->text.substr(0, head.size()) == head);
  CHECK(exit->text.substr(exit->text.size() - tail.size()) == tail);
  std::string message = exit->text.substr(head.size(), exit->text.size() - head.size() - tail.size());
  CHECK(message.find('\n') == std::string::npos);
  return message;
}

inline std::string text_of(const Words& words) {
  const auto parsed = parse(words);
  const Exit* exit = std::get_if<Exit>(&parsed);
  REQUIRE(exit != nullptr);
  CHECK(exit->status == 0);
  return exit->text;
}

}  // namespace offwait::cli::test
