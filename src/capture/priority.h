// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduling of the thread that records. Where thousands of threads are ready to run, it would get a CPU
// too seldom to empty the ring buffer in time.
#pragma once

#include <cstdint>

namespace offwait {

enum class PriorityLevel : std::uint8_t {
  real_time,  ///< before all threads that are not real-time themselves
  nice,       ///< nice -20: 88 times the share of a thread with nice 0
  own,        ///< as this process was started
};

/// Runs this thread before others while it exists. Threads that the thread starts meanwhile run at nice -20
/// at most, and processes at nice 0. Raising needs CAP_SYS_NICE, or the resource limits RLIMIT_RTPRIO and
/// RLIMIT_NICE.
class Priority {
 public:
  /// Raises the thread to `nice`, if it may.
  Priority();
  Priority(const Priority&) = delete;
  Priority& operator=(const Priority&) = delete;
  ~Priority() { end(); }

  /// For short work that must not wait: real-time, if that is allowed.
  void urgent();
  /// For work that may take as long as it needs: at most `nice`, so that the target is not kept from its CPU.
  void patient();
  /// Gives the thread the priority that it had.
  void end();

  /// The highest level that was allowed so far.
  PriorityLevel highest() const { return highest_; }

 private:
  PriorityLevel highest_ = PriorityLevel::own;
  int own_nice_ = 0;
  bool urgent_ = false;
  bool ended_ = false;
};

}  // namespace offwait
