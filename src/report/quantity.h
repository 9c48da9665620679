// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers with units, three significant digits, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace offwait {

/// 0.012345 → "12.3 ms"; 8.0 → "8.00 s"; 123.4 → "123 s"; 0 → "0 s". Units ns, µs, ms, s.
std::string format_seconds(double s);

/// Part of `whole`: "42%", "4.2%", "0%"; "-" when `whole` is 0.
std::string format_percent(double part, double whole);

/// 0.456 → 46.
int whole_percent(double part);

/// A number of threads that is known as a mean: 1.4 → 1, 0.2 → 1.
std::uint64_t whole_threads(double threads);

/// 0.456 → "0.46", 12.34 → "12.3", 123.4 → "123".
std::string format_ratio(double value);

/// 1234567 → "1,234,567".
std::string format_count(std::uint64_t count);

/// With decimal suffixes: 50000 → "50 k", 1.5e9 → "1.50 G", 7 → "7 "; a unit can follow directly.
std::string format_scaled(double value);
/// The same with `B`: `188 MB`.
std::string format_bytes(std::uint64_t bytes);

/// `count` and the noun: "1 wait", "1,200 waits".
std::string format_plural(std::uint64_t count, const std::string& noun);

/// `a`, `a and b`, `a, b and c`.
std::string in_a_sentence(const std::vector<std::string>& items);

}  // namespace offwait
