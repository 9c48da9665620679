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

}  // namespace offwait::test
