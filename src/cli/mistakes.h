// SPDX-License-Identifier: GPL-2.0-or-later
// What was probably meant by words of the command line that nothing accepts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace offwait::cli {

/// An option as --help shows it.
struct KnownOption {
  std::vector<std::string> names;  ///< "-p", "--pid"
  std::string value;               ///< what it takes, as "PID"; empty: nothing
};

struct KnownCommand {
  std::string name;  ///< empty: offwait itself, whose options stand without a command
  std::vector<KnownOption> options;
};

/// All commands; the first is offwait itself.
using KnownCommands = std::vector<KnownCommand>;

/// A word of the command line that is neither the command, nor an option that it has, nor an option's value.
struct Stray {
  std::string word;  ///< of an unknown option its name alone: `-F` of `-F99`, `--jsn` of `--jsn=f`
  bool is_option = false;
  bool is_last = false;  ///< no word follows
};

/// How the words of a command line divide among what is known.
struct Reading {
  const KnownCommand* command = nullptr;  ///< whose options are read in the end
  std::vector<std::string> options;       ///< the known ones that were given, as they were written
  std::vector<Stray> strays;
  std::optional<std::string> lacks_value;  ///< "-p needs a value: PID": of an option that has none
};

/// Reads `words` up to a `--`. The first word that names a command selects it.
Reading read_words(const KnownCommands& commands, const std::vector<std::string>& words);

/// A sentence about an option that this command does not have: the option that was probably meant, or the
/// commands that have it.
std::string unknown_option(const KnownCommands& commands, const KnownCommand& command,
                           const std::string& option);

/// A sentence about a word that stands where a command or an option is expected.
std::string unknown_command(const KnownCommands& commands, const std::string& word);

/// The candidate that `word` was probably meant to be: the one it begins like, or one that a mistake or two
/// in typing make of it. None if nothing is that near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace offwait::cli
