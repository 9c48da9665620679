// SPDX-License-Identifier: GPL-2.0-or-later
// The futex system call on futexes that are private to the process, without timeouts.
#pragma once

#include <atomic>
#include <cstdint>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace workload {

/// 0 when woken, -1 with errno EAGAIN when `word` was not `expected`.
inline long futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

/// How many threads were woken, at most one.
inline long futex_wake_one(std::atomic<std::uint32_t>& word) {
  return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace workload
