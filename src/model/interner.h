// SPDX-License-Identifier: GPL-2.0-or-later
// Stores equal values once, in a vector that the caller owns (the frames, stacks, peers and sites of a
// Trace). The index in that vector is the value's id; there is no second copy of the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace offwait {

/// `Hash` gives 64 bits for a `Value`. The low ones must be as good as the others. There are fewer than 2^32
/// values.
template <class Value, class Hash, class Equal>
class Interner {
 public:
  /// `values` must be empty, outlive the interner, and change through it alone.
  explicit Interner(std::vector<Value>& values) : values_(values) {}

  std::uint32_t intern(const Value& value) {
    // At most half of the places are taken, so the next free one is near.
    if (places_.size() <= 2 * values_.size()) grow();
    const auto hash = static_cast<std::uint32_t>(Hash{}(value));
    std::size_t at = hash & (places_.size() - 1);
    for (; places_[at].id != kFree; at = (at + 1) & (places_.size() - 1)) {
      if (places_[at].hash == hash && Equal{}(values_[places_[at].id], value)) return places_[at].id;
    }
    const auto id = static_cast<std::uint32_t>(values_.size());
    values_.push_back(value);
    places_[at] = {hash, id};
    return id;
  }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;
  static constexpr std::size_t kFewestPlaces = 64;

  /// A value is at the place that the low bits of its hash say, or at a later one if that was taken.
  struct Place {
    std::uint32_t hash = 0;
    std::uint32_t id = kFree;
  };

  void grow() {
    std::vector<Place> places(places_.empty() ? kFewestPlaces : 2 * places_.size());
    for (const Place& place : places_) {
      if (place.id == kFree) continue;
      std::size_t at = place.hash & (places.size() - 1);
      while (places[at].id != kFree) at = (at + 1) & (places.size() - 1);
      places[at] = place;
    }
    places_ = std::move(places);
  }

  std::vector<Value>& values_;
  std::vector<Place> places_;  ///< a power of two of them
};

}  // namespace offwait
