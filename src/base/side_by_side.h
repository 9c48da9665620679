// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <vector>

#include "base/available_cpus.h"

namespace offwait {

/// Into how many parts to divide work: at most one for each CPU that this process may use, and each of at
/// least `least` of the `size`; at least 1.
inline std::size_t parts_of_work(std::size_t size, std::size_t least) {
  const std::size_t most = size / least;
  return most > 1 ? std::min(most, available_cpus()) : 1;
}

/// Calls work(0) to work(count - 1). They begin in this order, and as many run at the same time as this
/// process may use CPUs and may have threads. None may depend on what another does. Returns when all have,
/// and throws what one of them threw.
template <class Work>
void each_side_by_side(std::size_t count, Work&& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::future<void>> others;
  try {
    const std::size_t most = count > 1 ? std::min(count, available_cpus()) : 1;
    while (others.size() + 1 < most) others.push_back(std::async(std::launch::async, take));
  } catch (const std::system_error&) {
    // This process may have no more threads; those that it has do all.
  }
  take();
  for (std::future<void>& other : others) other.get();
}

/// Calls both, at the same time if this process may use several CPUs and may have another thread, else one
/// after the other. Neither may depend on what the other does. Returns when both have, and throws what one of
/// them threw.
template <class First, class Second>
void side_by_side(First&& first, Second&& second) {
  each_side_by_side(2, [&](std::size_t i) {
    if (i == 0) {
      first();
    } else {
      second();
    }
  });
}

}  // namespace offwait
