// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

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

}  // namespace offwait
