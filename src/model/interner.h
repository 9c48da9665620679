// SPDX-License-Identifier: GPL-2.0-or-later
// Stores equal values once, in a vector that the caller owns (the frames, stacks, peers and sites of a
// Trace). The index in that vector is the value's id; there is no second copy of the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace offwait {

/// `Hash` and `Equal` take a stored `Value` or a `Key`. A Value can be made of a Key.
template <class Value, class Key, class Hash, class Equal>
class Interner {
 public:
  /// `values` must be empty, outlive the interner, and change through it alone.
  explicit Interner(std::vector<Value>& values)
      : values_(values), ids_(0, IdHash{&values}, IdEqual{&values}) {}

  std::uint32_t intern(const Key& key) {
    if (const auto found = ids_.find(key); found != ids_.end()) {
      return *found;
    }
    const auto id = static_cast<std::uint32_t>(values_.size());
    values_.push_back(Value{key});
    ids_.insert(id);
    return id;
  }

 private:
  struct IdHash {
    using is_transparent = void;
    const std::vector<Value>* values;
    std::size_t operator()(std::uint32_t id) const { return Hash{}((*values)[id]); }
    std::size_t operator()(const Key& key) const { return Hash{}(key); }
  };
  struct IdEqual {
    using is_transparent = void;
    const std::vector<Value>* values;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
    bool operator()(const Key& key, std::uint32_t id) const { return Equal{}((*values)[id], key); }
    bool operator()(std::uint32_t id, const Key& key) const { return Equal{}((*values)[id], key); }
  };

  std::vector<Value>& values_;
  std::unordered_set<std::uint32_t, IdHash, IdEqual> ids_;
};

}  // namespace offwait
