// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace offwait {

/// Numbers values in the order in which they are first seen; equal ones have one number. Threads by the
/// hundred thousand bring as many values, so the place of one is 8 to 16 bytes and not the node of a map.
template <class Value, class Hash>
class NumberedValues {
 public:
  std::size_t size() const { return values_.size(); }
  const Value& operator[](std::uint32_t number) const { return values_[number]; }

  /// The value's number; nothing if it has none.
  std::optional<std::uint32_t> find(const Value& value) const {
    if (places_.empty()) return std::nullopt;
    const std::uint32_t place = places_[place_of(value)];
    return place == 0 ? std::nullopt : std::optional(place - 1);
  }

  /// The value's number; nothing if it has none and may not get one.
  std::optional<std::uint32_t> number(const Value& value, bool may_add) {
    // At most half of the places are taken, so the next free one is near.
    if (places_.size() <= 2 * values_.size()) add_places();
    std::uint32_t& place = places_[place_of(value)];
    if (place == 0) {
      if (!may_add) return std::nullopt;
      values_.push_back(value);
      place = static_cast<std::uint32_t>(values_.size());
    }
    return place - 1;
  }

 private:
  /// Where the value is or, if it is not there, may go.
  std::size_t place_of(const Value& value) const {
    std::size_t at = Hash{}(value) & (places_.size() - 1);
    while (places_[at] != 0 && values_[places_[at] - 1] != value) at = (at + 1) & (places_.size() - 1);
    return at;
  }

  void add_places() {
    constexpr std::size_t kFewest = 64;
    places_.assign(places_.empty() ? kFewest : 2 * places_.size(), 0);
    for (std::uint32_t number = 0; number < values_.size(); ++number)
      places_[place_of(values_[number])] = number + 1;
  }

  std::vector<Value> values_;
  /// A power of two of them: 1 + the number of the value whose hash says so, or of one whose own place was
  /// taken; 0: free.
  std::vector<std::uint32_t> places_;
};

}  // namespace offwait
