// SPDX-License-Identifier: GPL-2.0-or-later
// The texts in which the kernel tells counters: words and lines of `KEY NUMBER`.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace offwait {

/// Takes the text up to the separator, which goes too, from the front of `text`.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

/// A number that is not negative, followed by nothing but a newline.
inline std::optional<std::uint64_t> whole_number(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && parsed == end ? std::optional(number) : std::nullopt;
}

/// The number in the line that begins with this key and a space; nothing if there is none.
inline std::optional<std::uint64_t> counter_in(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_until(line, ' ') == key) return whole_number(line);
  }
  return std::nullopt;
}

}  // namespace offwait
