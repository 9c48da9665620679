// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/duration.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace offwait {
namespace {

struct Unit {
  std::string_view name;
  Nanos length;
};
constexpr std::array<Unit, 5> kUnits = {{{"h", 3600 * kSecond},
                                         {"m", 60 * kSecond},
                                         {"s", kSecond},
                                         {"ms", kSecond / 1000},
                                         {"us", kSecond / 1'000'000}}};
constexpr Nanos kLongest = 24 * (3600 * kSecond);

Error bad_duration(std::string_view text) {
  return Error{
      fmt::format("bad duration '{}': expected something like 90, 90s, 1m30s or 500ms, at most 24h", text)};
}

Error bad_threshold(std::string_view text) {
  return Error{fmt::format(
      "bad threshold '{}': expected a part of the window like 20%, or a duration like 500ms", text)};
}

/// A decimal number at the front of `text`, which is cut off; NaN if there is none.
double take_number(std::string_view& text) {
  double value = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nan("");
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{}) return std::nan("");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

Result<Nanos> parse_duration(std::string_view text) {
  std::string_view rest = text;
  double total_ns = 0;
  std::size_t next_unit = 0;
  do {
    const double value = take_number(rest);
    if (std::isnan(value)) return bad_duration(text);
    const std::string_view name = rest.substr(0, rest.find_first_of("0123456789."));
    rest.remove_prefix(name.size());
    if (name.empty()) {
      if (next_unit != 0 || !rest.empty()) return bad_duration(text);
      total_ns = value * static_cast<double>(kSecond);
      break;
    }
    std::size_t unit = next_unit;
    while (unit < kUnits.size() && kUnits[unit].name != name) ++unit;
    if (unit == kUnits.size() || (!rest.empty() && value != std::floor(value))) return bad_duration(text);
    total_ns += value * static_cast<double>(kUnits[unit].length);
    next_unit = unit + 1;
  } while (!rest.empty());
  if (total_ns < 1 || total_ns > static_cast<double>(kLongest)) return bad_duration(text);
  return static_cast<Nanos>(std::llround(total_ns));
}

Result<Threshold> parse_threshold(std::string_view text) {
  Threshold threshold;
  if (!text.empty() && text.back() == '%') {
    std::string_view rest = text.substr(0, text.size() - 1);
    const double percent = take_number(rest);
    if (std::isnan(percent) || !rest.empty() || percent > 100) {
      return bad_threshold(text);
    }
    threshold.is_part = true;
    threshold.part = percent / 100;
    return threshold;
  }
  const Result<Nanos> duration = parse_duration(text);
  if (!duration) {
    return bad_threshold(text);
  }
  threshold.duration = *duration;
  return threshold;
}

}  // namespace offwait
