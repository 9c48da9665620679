// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace offwait {

/// A map from numbers to values that are never removed. It lies in one piece of memory, and is for maps that
/// are asked for each of millions of records: std::unordered_map divides, and follows pointers.
template <class Value>
class NumberMap {
 public:
  /// nullptr if the number has no value. The pointer is good until the next try_emplace().
  const Value* find(std::uint64_t number) const {
    if (places_.empty()) return nullptr;
    const Place& place = places_[place_of(number)];
    return place.taken ? &place.value : nullptr;
  }

  /// The number's value, which is `value` if it had none, and whether it had none. The reference is good
  /// until the next call.
  std::pair<Value&, bool> try_emplace(std::uint64_t number, Value value) {
    // At most half of the places are taken, so the next free one is near.
    if (places_.size() <= 2 * taken_) grow();
    Place& place = places_[place_of(number)];
    const bool added = !place.taken;
    if (added) {
      place = {number, std::move(value), true};
      ++taken_;
    }
    return {place.value, added};
  }

 private:
  static constexpr unsigned kFewestBits = 6;

  struct Place {
    std::uint64_t number = 0;
    Value value{};
    bool taken = false;
  };

  /// Where the number is, or else may go: where its hash says, or behind that up to the next free place.
  std::size_t place_of(std::uint64_t number) const {
    std::size_t at = (number * 0x9e3779b97f4a7c15U) >> (64 - bits_);
    while (places_[at].taken && places_[at].number != number) at = (at + 1) & (places_.size() - 1);
    return at;
  }

  void grow() {
    bits_ = places_.empty() ? kFewestBits : bits_ + 1;
    std::vector<Place> before = std::exchange(places_, std::vector<Place>(std::size_t{1} << bits_));
    for (Place& place : before) {
      if (place.taken) places_[place_of(place.number)] = std::move(place);
    }
  }

  std::vector<Place> places_;  ///< 2^bits_ of them, or none
  unsigned bits_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace offwait
