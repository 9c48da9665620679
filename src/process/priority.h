// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduling of a thread that must not wait long for a CPU. Where thousands of threads are ready to run,
// the recorder would get a CPU too seldom to empty the ring buffer in time.
#pragma once

#include <cstdint>
#include <string_view>

namespace offwait {

enum class PriorityLevel : std::uint8_t {
  real_time,  ///< before all threads that are not real-time themselves
  nice,       ///< nice -20: 88 times the share of a thread with nice 0
  own,        ///< as this process was started
};

/// Runs the thread that makes it before others while it exists. Threads and processes that this thread starts
/// meanwhile have its priority at that moment. Raising needs CAP_SYS_NICE, or the resource limits
/// RLIMIT_RTPRIO and RLIMIT_NICE. A thread that is real-time already is left alone.
class Priority {
 public:
  /// Raises the thread as patient() does, as far as it may.
  Priority();
  Priority(const Priority&) = delete;
  Priority& operator=(const Priority&) = delete;
  ~Priority() { end(); }

  /// For short work that must not wait: real-time, if that is allowed.
  void urgent();
  /// For work that may take as long as it needs: nice -20, so that others get the CPU, too. Real-time where
  /// CPUs are crowded, since nice -20 would be less than half of a CPU there (beside 8,000 runnable threads
  /// it is 2 %).
  void patient();
  /// Gives the thread the priority that it had. Where CPUs are crowded it keeps nice -20, since it would take
  /// hours to finish what remains.
  void end();

  /// Whether the thread had a lower priority than others have, as under nice(1).
  bool was_lowered() const;
  /// The highest level that was allowed so far.
  PriorityLevel highest() const { return highest_; }

 private:
  PriorityLevel highest_ = PriorityLevel::own;
  int own_policy_ = 0;
  int own_nice_ = 0;
  bool urgent_ = false;
  bool ended_ = false;
};

/// Whether more threads are ready to run than a thread with nice -20 outweighs on its CPU. `loadavg`: the
/// content of /proc/loadavg.
bool cpus_are_crowded(std::string_view loadavg, long cpus);

}  // namespace offwait
