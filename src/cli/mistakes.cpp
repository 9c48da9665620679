// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/mistakes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

namespace offwait::cli {
namespace {

/// What other tools of this kind call an option, and what this command calls it.
struct Synonym {
  std::string_view command;  ///< kRecorders: each command that records
  std::string_view option;
  std::string_view sentence;  ///< what to do
};
constexpr std::string_view kRecorders = "*";
constexpr std::string_view kAlwaysStacks = "stacks are recorded without an option";
constexpr std::string_view kEveryWait =
    "every wait is recorded; small ones are set aside in the report (--noise)";
constexpr std::array kSynonyms = {
    Synonym{kRecorders, "-F", "did you mean --sample-hz?"},
    Synonym{kRecorders, "--freq", "did you mean --sample-hz?"},
    Synonym{kRecorders, "-g", kAlwaysStacks},
    Synonym{kRecorders, "--call-graph", kAlwaysStacks},
    Synonym{kRecorders, "-U", kAlwaysStacks},
    Synonym{kRecorders, "-K", kAlwaysStacks},
    Synonym{kRecorders, "-e", "every wait is recorded, whatever ends it"},
    Synonym{kRecorders, "--event", "every wait is recorded, whatever ends it"},
    Synonym{kRecorders, "-m", kEveryWait},
    Synonym{kRecorders, "-M", kEveryWait},
    Synonym{kRecorders, "-C", "the target is recorded on all CPUs"},
    Synonym{kRecorders, "--cpu", "the target is recorded on all CPUs"},
    Synonym{kRecorders, "-u", "did you mean --unit?"},
    Synonym{kRecorders, "-G", "did you mean -c?"},
    Synonym{kRecorders, "-n", "a process is named with -p NAME"},
    Synonym{kRecorders, "--name", "a process is named with -p NAME"},
    Synonym{"", "-f",
            "processes that the target creates are recorded without an option; folded stacks are --folded"},
    Synonym{kRecorders, "-f", "processes that the target creates are recorded without an option"},
    Synonym{"", "-o", "did you mean 'record -o' for the recording, or --json for the report?"},
    Synonym{"", "--output", "did you mean 'record -o' for the recording, or --json for the report?"},
    Synonym{"report", "-o", "did you mean --json?"},
    Synonym{"report", "--output", "did you mean --json?"},
    Synonym{"report", "-i", "FILE is given without an option"},
    Synonym{"report", "--input", "FILE is given without an option"},
    Synonym{"report", "-g", "stacks are shown without an option, and whole ones with -v"},
    Synonym{"report", "--stdio", "text is what is printed without an option"},
    Synonym{"report", "--sort", "did you mean --view?"},
    Synonym{"report", "--time", "did you mean --window?"},
    Synonym{"top", "-b", "did you mean --batch?"},
    Synonym{"top", "-n", "did you mean --once?"},
    Synonym{"export", "-f", "did you mean --format?"},
    Synonym{"export", "--json", "did you mean --format ndjson, or 'report --json'?"},
};

/// What other tools call a command.
struct OtherCommand {
  std::string_view name;
  std::string_view meant;
};
constexpr std::array kOtherCommands = {
    OtherCommand{"stat", "offwait TARGET"},
    OtherCommand{"trace", "offwait TARGET"},
    OtherCommand{"script", "offwait dump FILE"},
    OtherCommand{"annotate", "offwait report FILE --view functions"},
    OtherCommand{"list", "offwait --help"},
    OtherCommand{"version", "offwait --version"},
    OtherCommand{"check", "offwait doctor"},
};

const KnownOption* find_option(const KnownCommand& command, std::string_view name) {
  const auto found = std::find_if(command.options.begin(), command.options.end(), [name](const auto& option) {
    return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
  });
  return found == command.options.end() ? nullptr : &*found;
}

const KnownCommand* find_command(const KnownCommands& commands, std::string_view name) {
  const auto found = std::find_if(commands.begin(), commands.end(), [name](const KnownCommand& command) {
    return !command.name.empty() && command.name == name;
  });
  return found == commands.end() ? nullptr : &*found;
}

std::string shown(const KnownCommand& command) {
  return command.name.empty() ? "offwait" : "offwait " + command.name;
}

/// "a, b and c".
std::string list_of(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

/// How many characters have to be inserted, deleted, replaced or swapped with their neighbour to make one of
/// the other: the optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last.back();
}

std::string_view without_dashes(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word;
}

/// Takes the words of a command line one by one.
class WordReader {
 public:
  WordReader(const KnownCommands& commands, const std::vector<std::string>& words)
      : commands_(commands), words_(words) {
    reading_.command = &commands.front();
  }

  Reading read() {
    for (at_ = 0; at_ < words_.size() && words_[at_] != "--"; ++at_) {
      const std::string& word = words_[at_];
      if (word.starts_with("--")) {
        read_long(word);
      } else if (word.size() > 1 && word.front() == '-' &&
                 std::isdigit(static_cast<unsigned char>(word[1])) == 0) {
        read_short(word);
      } else {
        read_plain(word);
      }
    }
    return std::move(reading_);
  }

 private:
  void read_plain(const std::string& word) {
    const KnownCommand* const named =
        reading_.command->name.empty() ? find_command(commands_, word) : nullptr;
    if (named != nullptr) {
      reading_.command = named;
    } else {
      reading_.strays.push_back({word, false, at_ + 1 == words_.size()});
    }
  }

  void read_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    read_name(name, equals == std::string::npos);
    const KnownOption* const option = find_option(*reading_.command, name);
    const bool is_empty = equals + 1 == word.size();
    if (option != nullptr && is_empty && !option->value.empty()) lack_value(name, option->value);
  }

  /// `-p1`, `-vq`: letters of flags, the last of which may take a value.
  void read_short(const std::string& word) {
    const bool lacks_dash = word.size() > 2 && find_option(*reading_.command, "-" + word) != nullptr;
    if (lacks_dash) {
      reading_.strays.push_back({word, true, at_ + 1 == words_.size()});
      return;
    }
    for (std::size_t letter = 1; letter < word.size(); ++letter) {
      if (read_name({'-', word[letter]}, letter + 1 == word.size())) return;
    }
  }

  /// True if the rest of the word is no further option. `value_follows`: a value would be the next word.
  bool read_name(const std::string& name, bool value_follows) {
    const KnownOption* const option = find_option(*reading_.command, name);
    if (option == nullptr) {
      reading_.strays.push_back({name, true, at_ + 1 == words_.size()});
      return true;
    }
    reading_.options.push_back(name);
    if (!option->value.empty() && value_follows) take_value(name, option->value);
    return !option->value.empty();
  }

  void take_value(const std::string& name, const std::string& value) {
    // As getopt does, CLI11 takes any word for the value, which an option rarely is.
    if (at_ + 1 < words_.size() && !is_known(words_[at_ + 1])) {
      ++at_;
    } else {
      lack_value(name, value);
    }
  }

  void lack_value(const std::string& name, const std::string& value) {
    if (!reading_.lacks_value) reading_.lacks_value = fmt::format("{} needs a value: {}", name, value);
  }

  bool is_known(const std::string& word) const {
    return word == "--" || find_option(*reading_.command, word.substr(0, word.find('='))) != nullptr;
  }

  const KnownCommands& commands_;
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  Reading reading_;
};

}  // namespace

Reading read_words(const KnownCommands& commands, const std::vector<std::string>& words) {
  return WordReader(commands, words).read();
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string_view bare = without_dashes(word);
  constexpr std::size_t kFewestForPrefix = 3;
  if (bare.size() < 2) return std::nullopt;
  std::optional<std::string> best;
  std::size_t least = std::max<std::size_t>(bare.size() / 3, 1) + 1;
  for (const std::string& candidate : candidates) {
    const std::string_view other = without_dashes(candidate);
    if (other.size() < 2) continue;
    const bool begins = bare.size() >= kFewestForPrefix && other.starts_with(bare);
    const std::size_t away = begins ? 0 : distance(bare, other);
    if (away >= least) continue;
    least = away;
    best = candidate;
  }
  return best;
}

std::string unknown_option(const KnownCommands& commands, const KnownCommand& command,
                           const std::string& option) {
  const std::string head = command.name.empty() ? fmt::format("unknown option {}", option)
                                                : fmt::format("{} has no option {}", command.name, option);
  for (const Synonym& synonym : kSynonyms) {
    const bool is_of_command = synonym.command == command.name ||
                               (synonym.command == kRecorders && find_option(command, "--pid") != nullptr);
    if (is_of_command && synonym.option == option) return fmt::format("{}; {}", head, synonym.sentence);
  }
  std::vector<std::string> owners;
  for (const KnownCommand& other : commands) {
    if (find_option(other, option) != nullptr) owners.push_back(shown(other));
  }
  if (!owners.empty())
    return fmt::format("{}: {} {}", head, list_of(owners), owners.size() == 1 ? "has it" : "have it");
  std::vector<std::string> names;
  for (const KnownOption& one : command.options)
    std::copy(one.names.begin(), one.names.end(), std::back_inserter(names));
  std::optional<std::string> meant = nearest(option, names);
  if (!meant && option.size() == 2) {
    // The other case of a letter: -P for -p.
    const auto letter = static_cast<unsigned char>(option[1]);
    const int other = std::isupper(letter) != 0 ? std::tolower(letter) : std::toupper(letter);
    const std::string swapped = {'-', static_cast<char>(other)};
    if (find_option(command, swapped) != nullptr) meant = swapped;
  }
  return meant ? fmt::format("{}; did you mean {}?", head, *meant) : head;
}

std::string unknown_command(const KnownCommands& commands, const std::string& word) {
  std::vector<std::string> names;
  for (const KnownCommand& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  std::string meant;
  const auto other = std::find_if(kOtherCommands.begin(), kOtherCommands.end(),
                                  [&word](const OtherCommand& one) { return one.name == word; });
  if (other != kOtherCommands.end()) {
    meant = fmt::format("; did you mean '{}'?", other->meant);
  } else if (const std::optional<std::string> near = nearest(word, names)) {
    meant = fmt::format("; did you mean {}?", *near);
  }
  return fmt::format(
      "unknown command '{}'{} (commands: {}; a running process is -p NAME, a program to run stands after --)",
      word, meant, fmt::join(names, ", "));
}

}  // namespace offwait::cli
