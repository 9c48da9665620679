// SPDX-License-Identifier: GPL-2.0-or-later
// Work that a user waits for must not starve. A nice value does not ensure that: it counts only within a
// cgroup or a session (sched(7), "The autogroup feature"), and beside many threads that wake each other a
// thread with nice -20 was ready to run for 36 s without a CPU on Linux 6.18.
#pragma once

#include <atomic>
#include <thread>

#include "base/nanos.h"

namespace offwait {

/// A thread at one time.
struct CpuTurn {
  Nanos at = 0;
  Nanos ran = 0;       ///< since it began
  bool ready = false;  ///< it runs, or waits for a CPU
};

/// By how much a thread has waited for CPUs longer than it has run, looked at again and again.
class CpuDebt {
 public:
  /// A thread that is ready has been ready since the look before.
  void look(const CpuTurn& now);
  bool is_owed() const { return debt_ns_ > 0; }

 private:
  CpuTurn before_;
  Nanos debt_ns_ = 0;
};

/// While it exists, no thread of this process, and of copies of it that it has forked, waits for a CPU for
/// much longer than it runs: one that did is real-time until it has run as long. So it gets half of a CPU at
/// least, and leaves the other half. Left alone are other programs that this process runs, and threads of
/// another policy than SCHED_OTHER. Without CAP_SYS_NICE, which its own thread keeps when others give it up,
/// nothing happens.
class HalfOfACpu {
 public:
  /// Does nothing unless `wanted`.
  explicit HalfOfACpu(bool wanted);
  HalfOfACpu(const HalfOfACpu&) = delete;
  HalfOfACpu& operator=(const HalfOfACpu&) = delete;
  ~HalfOfACpu();

 private:
  void run() const;

  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace offwait
