// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/rate.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>

namespace offwait {

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    result += c >= 0x20 && c < 0x7f ? c : '?';
  }
  result += text.size() > kLongest ? "…'" : "'";
  return result;
}

std::optional<double> parse_rate(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  double scale = 1;
  switch (text.back()) {
    case 'k':
      scale = 1e3;
      break;
    case 'M':
      scale = 1e6;
      break;
    case 'G':
      scale = 1e9;
      break;
    default:
      break;
  }
  if (scale > 1) {
    text.remove_suffix(1);
  }
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  number *= scale;
  if (!std::isfinite(number) || number <= 0) {
    return std::nullopt;
  }
  return number;
}

}  // namespace offwait
