// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace offwait {

/// Sorts items by key_of(item), a number in [from, to), and keeps the order of equal ones. `scratch` is
/// memory to work in, which its owner keeps from one call to the next. Takes O(items) time for each 11 bits
/// of the range: for batches whose keys lie close together.
template <class Item, class KeyOf>
void radix_sort(std::vector<Item>& items, std::vector<Item>& scratch, std::uint64_t from, std::uint64_t to,
                KeyOf key_of) {
  constexpr unsigned kDigit = 11;
  constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigit;
  scratch.resize(items.size());
  for (unsigned shift = 0; shift < 64 && (to - 1 - from) >> shift > 0; shift += kDigit) {
    const auto digit = [&](const Item& item) { return ((key_of(item) - from) >> shift) % kDigits; };
    std::array<std::uint32_t, kDigits> ends{};
    for (const Item& item : items) ++ends[digit(item)];
    std::uint32_t sum = 0;
    for (std::uint32_t& end : ends) {
      const std::uint32_t count = end;
      end = sum;
      sum += count;
    }
    for (const Item& item : items) scratch[ends[digit(item)]++] = item;
    items.swap(scratch);
  }
}

}  // namespace offwait
