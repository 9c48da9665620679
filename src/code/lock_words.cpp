// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/lock_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>

#include "model/outline.h"

namespace offwait {

namespace {

/// `Lookup` of `Cache<int>::Lookup(Key const&)`.
std::string last_part(std::string_view function) {
  const std::string name = outline(function);
  return name.substr(name.rfind(':') + 1);  // all of it without a colon
}

/// Whether `word` stands in the name as a word of its own, in any spelling: `wr_lock`, `tryLock`, `Lock`; not
/// `block` or `clock`.
bool has_word(std::string_view name, std::string_view word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (auto at = name.begin();; ++at) {
    at = std::search(at, name.end(), word.begin(), word.end(), same);
    if (at == name.end()) return false;
    const bool begins = at == name.begin() || std::isalpha(static_cast<unsigned char>(*(at - 1))) == 0 ||
                        std::isupper(static_cast<unsigned char>(*at)) != 0;
    const auto after = at + static_cast<std::ptrdiff_t>(word.size());
    const bool ends = after == name.end() || std::islower(static_cast<unsigned char>(*after)) == 0;
    if (begins && ends) return true;
  }
}

template <std::size_t Size>
bool has_one_of(std::string_view function, const std::array<std::string_view, Size>& words) {
  const std::string name = last_part(function);
  return std::any_of(words.begin(), words.end(),
                     [&name](std::string_view word) { return has_word(name, word); });
}

}  // namespace

bool is_about_locks(std::string_view function) {
  constexpr std::array<std::string_view, 16> kWords = {
      "lock", "trylock", "spinlock", "rwlock", "mutex", "wait",   "acquire", "sem",
      "down", "park",    "rwsem",    "futex",  "guard", "wrlock", "rdlock",  "enter"};
  return has_one_of(function, kWords);
}

bool takes_a_lock(std::string_view function) {
  constexpr std::array<std::string_view, 5> kWords = {"lock", "rwlock", "spinlock", "mutex", "rwsem"};
  return has_one_of(function, kWords);
}

bool lets_a_lock_go(std::string_view function) {
  constexpr std::array<std::string_view, 3> kWords = {"unlock", "wrunlock", "rdunlock"};
  return has_one_of(function, kWords);
}

bool is_nameless_body(std::string_view function) { return last_part(function) == "operator()"; }

}  // namespace offwait
