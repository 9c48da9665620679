// SPDX-License-Identifier: GPL-2.0-or-later
// Small programs whose recordings are written down by rule, in the text form.
#pragma once

#include <string>

#include "model/trace.h"

namespace offwait::test {

/// Times in microseconds; the window is [0, end).
class Program {
 public:
  explicit Program(long end_us, int cpus = 8);
  void thread(int tid, const std::string& name, const std::string& more = "start=0 exit=-");
  /// `waker` as in the text form; runs again at once.
  void wait(int tid, long block_us, long wake_us, const std::string& waker,
            const std::string& more = "class=futex");
  void wait_and_queue(int tid, long block_us, long wake_us, long run_us, const std::string& waker,
                      const std::string& more = "class=futex");
  void line(const std::string& text);
  Trace trace() const;
  std::string text;
};

/// Three threads take a lock in turns, for 1 ms each, and work for 0.5 ms without it.
Trace three_at_a_lock();

/// The window that throttled_writer() fills, in microseconds.
inline constexpr long kThrottledUs = 370'000;
/// Adds thread 1, `writer`, and thread 2, `compact`. The writer waits 20 times for its disk, for 0.15 of
/// 0.25 ms, then 20 times more with a sleep of 1 ms after each. Of each ms `compact` works for 0.6.
void add_throttled_writer(Program& program);

/// Thread 1, `frame`, goes on at a rate of 5 ms. Three of four rounds take 1 to 2 ms of work; the fourth one
/// takes 6 ms, so that it ends with the second period. With `polls` it also waits for 0.1 ms after the
/// others.
Trace late_frame(bool polls = false);

}  // namespace offwait::test
