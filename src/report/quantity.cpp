// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/quantity.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace offwait {

namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 64> buffer{};
  // The values that come here are below 1e20: they fit.
  (void)std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return buffer.data();
}

}  // namespace

int whole_percent(double part) { return static_cast<int>(std::lround(100 * part)); }

std::uint64_t whole_threads(double threads) {
  return static_cast<std::uint64_t>(std::llround(std::max(1.0, threads)));
}

std::string format_ratio(double value) { return fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2); }

std::string format_seconds(double s) {
  if (!(s >= 0.5e-9)) {
    return "0 s";
  }
  if (s >= 0.9995) {
    return format_ratio(s) + " s";
  }
  if (s >= 0.9995e-3) {
    return format_ratio(s * 1e3) + " ms";
  }
  if (s >= 0.9995e-6) {
    return format_ratio(s * 1e6) + " µs";
  }
  return fixed(s * 1e9, 0) + " ns";
}

std::string format_percent(double part, double whole) {
  if (!(whole > 0)) {
    return "-";
  }
  const double percent = part / whole * 100;
  return fixed(percent, percent >= 9.95 || percent < 0.05 ? 0 : 1) + "%";
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, ",");
  }
  return digits;
}

std::string format_scaled(double value) {
  constexpr std::array<const char*, 5> kSuffixes = {"", "k", "M", "G", "T"};
  std::size_t suffix = 0;
  while (value >= 999.5 && suffix + 1 < kSuffixes.size()) {
    value /= 1000;
    ++suffix;
  }
  const bool whole = value == std::floor(value);
  return (whole ? fixed(value, 0) : format_ratio(value)) + " " + kSuffixes[suffix];
}

std::string format_plural(std::uint64_t count, const std::string& noun) {
  return format_count(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string in_a_sentence(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    out += i == 0 ? "" : i + 1 == items.size() ? " and " : ", ";
    out += items[i];
  }
  return out;
}

std::string format_bytes(std::uint64_t bytes) { return format_scaled(static_cast<double>(bytes)) + "B"; }

}  // namespace offwait
