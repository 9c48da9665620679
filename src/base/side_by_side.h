// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>

namespace offwait {

/// Calls both, at the same time if this process may use several CPUs and may have another thread, else one
/// after the other. Neither may depend on what the other does. Returns when both have, and throws what one of
/// them threw.
template <class First, class Second>
void side_by_side(First&& first, Second&& second) {
  std::future<void> other;
  if (std::thread::hardware_concurrency() > 1) {
    try {
      other = std::async(std::launch::async, [&second] { second(); });
    } catch (const std::system_error&) {
      // This process may have no more threads; the one that it has does both.
    }
  }
  first();
  if (other.valid()) {
    other.get();
  } else {
    second();
  }
}

/// Calls work(i) for each i below `count`, two at the same time where side_by_side() does that. They begin in
/// order.
template <class Work>
void each_side_by_side(std::size_t count, Work&& work) {
  std::atomic<std::size_t> next = 0;
  const auto some = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  side_by_side(some, some);
}

}  // namespace offwait
