// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/called.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "model/name_patterns.h"

namespace offwait {

namespace {

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

}  // namespace

std::string called(const Actor& actor) {
  constexpr std::string_view kColon = ": ";
  if (actor.title.empty()) return actor.name;
  const std::string title = without_client(actor.title);
  const std::size_t first = title.find(kColon);
  const std::size_t last = title.rfind(kColon);
  return first == last ? title : title.substr(0, first) + title.substr(last);
}

std::string alike(const Actor& actor) {
  return name_pattern(actor.title.empty() ? actor.name : without_client(actor.title));
}

bool names_script(std::string_view title) { return !title.empty() && !first_word(title).ends_with(':'); }

bool has_title(std::string_view title, std::string_view name, bool is_main) {
  return is_main || (names_script(title) && first_word(title) == name);
}

std::string without_client(std::string_view title) {
  std::string out;
  std::string_view previous;
  for (std::size_t from = 0; from < title.size();) {
    const std::size_t to = std::min(title.find(' ', from), title.size());
    const std::string_view word = title.substr(from, to - from);
    from = to + 1;
    // The first word is the program's own, whatever is in it.
    if (!out.empty() && word.find_first_of("([") != std::string_view::npos) break;
    if (word.empty() || word == previous) continue;
    out.append(out.empty() ? "" : " ").append(word);
    previous = word;
  }
  return out;
}

std::string name_pattern(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      pattern.push_back(c);
    } else if (pattern.empty() || pattern.back() != '0') {
      pattern.push_back('0');
    }
  }
  return pattern;
}

bool is_called(const Actor& actor, const std::string& pattern) {
  return name_matches(pattern, actor.name) || (!actor.title.empty() && name_matches(pattern, called(actor)));
}

}  // namespace offwait
