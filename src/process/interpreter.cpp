// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/interpreter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/base_name.h"

namespace offwait {
namespace {

constexpr std::size_t kLongestTitle = 127;
/// An interpreter has few options before its script.
constexpr std::size_t kMostWords = 32;

/// What may stand before the name of a script, by python(1), perl(1), ruby(1), node(1), php(1), bash(1).
struct Interpreter {
  std::string_view name;   ///< without the version
  std::string_view flags;  ///< options of one letter without a value
  /// Options of one letter with a value, which is the rest of the word or the next one.
  std::string_view values;
  char module = 0;                 ///< the option of one letter whose value is what runs
  char file = 0;                   ///< the option of one letter whose value is the script
  std::string_view long_flags{};   ///< options of several letters without a value, each between two blanks
  std::string_view long_values{};  ///< those whose value is the next word
  std::string_view other_name{};   ///< what its newer versions call the process
};

constexpr std::string_view kPythonFlags = "bBdEhiIOPqsSuvVx";
constexpr std::string_view kNodeLong = " inspect enable-source-maps expose-gc no-warnings trace-warnings ";
constexpr std::string_view kNodeLongValues = " require import loader ";
constexpr std::string_view kShellFlags = "aefhkmnuvx";
constexpr std::string_view kShellLong = " login posix norc noprofile ";
constexpr std::array<Interpreter, 11> kInterpreters = {{
    {"python", kPythonFlags, "WX", 'm'},
    {"pypy", kPythonFlags, "WX", 'm'},
    {"perl", "sStTuUwWX", "IMm"},
    {"ruby", "dvwWU", "Ir"},
    {"node", "", "r", 0, 0, kNodeLong, kNodeLongValues, "MainThread"},
    {"nodejs", "", "r", 0, 0, kNodeLong, kNodeLongValues, "MainThread"},
    {"php", "nqC", "cd", 0, 'f'},
    {"bash", kShellFlags, "o", 0, 0, kShellLong, " rcfile init-file "},
    {"dash", kShellFlags, "o"},
    {"sh", kShellFlags, "o", 0, 0, kShellLong},
    {"zsh", kShellFlags, "o"},
}};

std::vector<std::string_view> first_words(std::string_view command_line) {
  std::vector<std::string_view> out;
  while (!command_line.empty() && out.size() < kMostWords) {
    const std::size_t length = std::min(command_line.find('\0'), command_line.size());
    out.push_back(command_line.substr(0, length));
    command_line.remove_prefix(std::min(length + 1, command_line.size()));
  }
  return out;
}

bool is_listed(std::string_view list, std::string_view word) {
  return !word.empty() && list.find(" " + std::string(word) + " ") != std::string_view::npos;
}

/// Reads the words behind the interpreter's name.
class Words {
 public:
  Words(const Interpreter& about, const std::vector<std::string_view>& words)
      : about_(about), words_(words) {}

  /// The script as it is named, or the module with `-m ` before it; nothing if no script follows.
  std::optional<std::string> what_runs() {
    while (at_ < words_.size()) {
      const std::string_view word = words_[at_++];
      if (word.empty() || word == "-" || word.starts_with('+')) return std::nullopt;
      if (!word.starts_with('-')) return std::string(base_name(word));
      const bool goes_on = word.starts_with("--") ? long_option(word.substr(2)) : letters(word.substr(1));
      if (!found_.empty()) return found_;
      if (!goes_on) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  bool long_option(std::string_view word) {
    const std::string_view name = word.substr(0, word.find('='));
    const bool takes_value = is_listed(about_.long_values, name);
    if (takes_value && name == word) ++at_;
    return takes_value || is_listed(about_.long_flags, name) ||
           (name != word && about_.name.starts_with("node"));
  }

  bool letters(std::string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      const char letter = word[i];
      const bool runs = letter == about_.module || letter == about_.file;
      if (runs || about_.values.find(letter) != std::string_view::npos) {
        std::string_view value = word.substr(i + 1);
        if (value.empty() && at_ < words_.size()) value = words_[at_++];
        if (runs && !value.empty())
          found_ = letter == about_.module ? "-m " + std::string(value) : std::string(base_name(value));
        return !runs;
      }
      if (about_.flags.find(letter) == std::string_view::npos) return false;
    }
    return true;
  }

  const Interpreter& about_;
  const std::vector<std::string_view>& words_;
  std::size_t at_ = 1;
  std::string found_;
};

}  // namespace

std::string interpreter_title(std::string_view command_line, const std::function<std::string()>& comm) {
  const std::vector<std::string_view> words = first_words(command_line);
  if (words.empty()) return {};
  const std::string_view own = base_name(words[0]);
  const std::string_view without_version = own.substr(0, own.find_last_not_of("0123456789.") + 1);
  const auto about =
      std::find_if(kInterpreters.begin(), kInterpreters.end(),
                   [without_version](const Interpreter& one) { return one.name == without_version; });
  if (about == kInterpreters.end()) return {};
  const std::optional<std::string> runs = Words(*about, words).what_runs();
  if (!runs || runs->empty()) return {};
  const std::string name = comm();
  if (name != own && (about->other_name.empty() || name != about->other_name)) return {};
  return (std::string(own) + " " + *runs).substr(0, kLongestTitle);
}

}  // namespace offwait
