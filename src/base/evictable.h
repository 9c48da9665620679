// SPDX-License-Identifier: GPL-2.0-or-later
// Memory for arrays that may be larger than what a host has to spare.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace offwait {

/// Memory of at least this many bytes is a file without a name in overflow_directory(). When memory runs
/// short the kernel writes its pages there, which it cannot do with other memory where there is no swap.
inline constexpr std::size_t kLeastEvictable = std::size_t{16} << 20;

/// Ordinary memory below kLeastEvictable, and where no file of the size can be made. Throws std::bad_alloc.
void* allocate_evictable(std::size_t bytes);
void free_evictable(void* memory, std::size_t bytes) noexcept;

template <class T>
struct EvictableAllocator {
  using value_type = T;

  EvictableAllocator() = default;
  template <class Other>
  explicit EvictableAllocator(const EvictableAllocator<Other>& /*other*/) noexcept {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_evictable(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept { free_evictable(memory, count * sizeof(T)); }

  friend bool operator==(const EvictableAllocator&, const EvictableAllocator&) { return true; }
};

/// For what grows large and is read in order.
template <class T>
using EvictableVector = std::vector<T, EvictableAllocator<T>>;

}  // namespace offwait
